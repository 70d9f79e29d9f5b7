"""How a user asks for BFCL's functions, where their documents make no good sentence."""

from __future__ import annotations

from collections.abc import Mapping

from rods.types import Phrase


def _ways(*says: str, any: str = "", **nouns: str) -> Phrase:
    return Phrase(says=says, nouns={**nouns, **({"*": any} if any else {})})


PHRASES: Mapping[str, Phrase] = {
    # ------------------------------------------------------------------ file system
    "cat": _ways(
        "show me what is in {file_name}",
        "display the contents of {file_name}",
        any="the contents of {file_name}",
    ),
    "cd": _ways(
        "go into {folder}",
        "change to the {folder} directory",
        "go into {folder!}",
        "change to {folder!}",
        "move over to {folder}",
        "{folder:..=go up one directory}",
    ),
    "cp": _ways("copy {source} to {destination}", "put a copy of {source} into {destination}"),
    "diff": _ways(
        "compare {file_name1} with {file_name2}",
        "show me how {file_name1} differs from {file_name2}",
    ),
    "du": _ways(
        "tell me how much disk space is used here[ in a {human_readable:true=readable} form]"
    ),
    "echo": _ways("write {content} into {file_name}", "put the text {content} into {file_name}"),
    "find": _ways("find everything named {name}[ under {path}]", "look for {name}[ under {path}]"),
    "grep": _ways(
        "search {file_name} for {pattern}", "find the lines with {pattern} in {file_name}"
    ),
    "ls": _ways(
        "list what is here[, {a:true=hidden files too;false=without hidden files}]",
        any="what is listed here",
    ),
    "mkdir": _ways("create a new directory called {dir_name}", "make a folder named {dir_name}"),
    "mv": _ways("move {source} to {destination}", "move {source} over to {destination}"),
    "pwd": _ways("tell me which directory we are in"),
    "rm": _ways("delete {file_name}", "remove {file_name}"),
    "rmdir": _ways("remove the directory {dir_name}", "delete the folder {dir_name}"),
    "sort": _ways("sort the lines of {file_name}", any="the sorted lines of {file_name}"),
    "tail": _ways(
        "show me the last {lines} lines of {file_name}",
        "show me the end of {file_name}, as many lines as {lines!}",
        "show me the end of {file_name}",
        any="the end of {file_name}",
    ),
    "touch": _ways("create a new file called {file_name}", "create an empty file {file_name}"),
    "wc": _ways(
        "count the {mode:l=lines;w=words;c=characters;*=lines} of {file_name}",
        "tell me how long {file_name} is in {mode:l=rows;w=terms;c=letters;*=rows}",
    ),
    # ------------------------------------------------------------------ math
    "add": _ways("add {a} and {b}", any="the sum of {a} and {b}"),
    "subtract": _ways("subtract {b} from {a}", any="the difference of {a} and {b}"),
    "multiply": _ways("multiply {a} by {b}", any="the product of {a} and {b}"),
    "divide": _ways("divide {a} by {b}", any="the quotient of {a} and {b}"),
    "power": _ways("raise {base} to the power of {exponent}"),
    "percentage": _ways("work out what percentage {part} is of {whole}"),
    "absolute_value": _ways("give me the absolute value of {number}"),
    "mean": _ways("work out the mean of {numbers}", any="the mean of {numbers}"),
    "max_value": _ways("tell me the largest of {numbers}", any="the largest of {numbers}"),
    "min_value": _ways("tell me the smallest of {numbers}", any="the smallest of {numbers}"),
    "sum_values": _ways("add up {numbers}", any="the sum of {numbers}"),
    "standard_deviation": _ways("work out the standard deviation of {numbers}"),
    "logarithm": _ways(
        "compute the logarithm of {value} to base {base}[ with precision {precision}]"
    ),
    "square_root": _ways("compute the square root of {number}[ with precision {precision}]"),
    "round_number": _ways("round {number}[ to {decimal_places} decimal places]"),
    "imperial_si_conversion": _ways("convert {value} from {unit_in} to {unit_out}"),
    "si_unit_conversion": _ways("convert {value} from {unit_in} to {unit_out}"),
    # ------------------------------------------------------------------ messages and tweets
    "add_contact": _ways("add {user_name} to my contacts"),
    "delete_message": _ways("delete the latest message that I sent to {receiver_id}"),
    "get_message_stats": _ways("give me the statistics of my messages"),
    "get_user_id": _ways(
        "look up the user id of {user}", receiver_id="{user}", any="the user id of {user}"
    ),
    "list_users": _ways("list everybody in the workspace"),
    "message_get_login_status": _ways("check whether I am logged in to the messages"),
    "message_login": _ways("log me in to the messages as {user_id}"),
    "search_messages": _ways("search my messages for {keyword}"),
    "send_message": _ways(
        "send {receiver_id} the message {message}", "send the message {message} to {receiver_id}"
    ),
    "view_messages_sent": _ways("show me all the messages I have sent"),
    "authenticate_twitter": _ways("log in to Twitter as {username} with the password {password}"),
    "comment": _ways(
        "comment {comment_content} on tweet {tweet_id}",
        "put the comment {comment_content} under {tweet_id!}",
    ),
    "follow_user": _ways("follow {username_to_follow}"),
    "get_tweet": _ways("show me tweet {tweet_id}", "open {tweet_id!}"),
    "get_tweet_comments": _ways(
        "show me the comments on tweet {tweet_id}", "show me what was commented on {tweet_id!}"
    ),
    "get_user_stats": _ways("show me how many followers {username} has"),
    "get_user_tweets": _ways("show me the tweets of {username}"),
    "list_all_following": _ways("list all the accounts that I follow"),
    "mention": _ways(
        "mention {mentioned_usernames} in tweet {tweet_id}",
        "mention {mentioned_usernames} in {tweet_id!}",
    ),
    "post_tweet": _ways("post the tweet {content}[ with the tags {tags}][ mentioning {mentions}]"),
    "posting_get_login_status": _ways("check whether I am logged in to Twitter"),
    "retweet": _ways("retweet tweet {tweet_id}", "retweet {tweet_id!}"),
    "search_tweets": _ways("search for tweets about {keyword}"),
    "unfollow_user": _ways("stop following {username_to_unfollow}"),
    # ------------------------------------------------------------------ tickets
    "close_ticket": _ways("close ticket {ticket_id}", "close {ticket_id!}"),
    "create_ticket": _ways(
        "open a ticket titled {title}[ saying {description}][ with priority {priority}]"
    ),
    "edit_ticket": _ways("change ticket {ticket_id} to have {updates}"),
    "get_ticket": _ways("show me ticket {ticket_id}", "show me {ticket_id!}"),
    "get_user_tickets": _ways("list my tickets[ that are {status}]"),
    "logout": _ways("log me out of the ticket system"),
    "resolve_ticket": _ways(
        "resolve ticket {ticket_id}[ with {resolution}]",
        "mark {ticket_id!} as resolved[ with {resolution}]",
    ),
    "ticket_get_login_status": _ways("check whether I am logged in to the ticket system"),
    "ticket_login": _ways(
        "log me in to the ticket system as {username} with the password {password}"
    ),
    # ------------------------------------------------------------------ trading
    "add_to_watchlist": _ways("add {stock} to my watchlist", "put {stock} on my watchlist"),
    "cancel_order": _ways("cancel order {order_id}", "cancel {order_id!}"),
    "filter_stocks_by_price": _ways(
        "tell me which of {stocks} cost between {min_price} and {max_price}"
    ),
    "fund_account": _ways(
        "deposit {amount} dollars into my account",
        "add {amount} dollars to my trading account",
        "deposit {amount!} into my account",
    ),
    "get_account_info": _ways("show me my trading account"),
    "get_available_stocks": _ways("list the stocks of the {sector} sector"),
    "get_current_time": _ways(
        "tell me what time it is now", any="the present time", **{"*!": "that time"}
    ),
    "get_order_details": _ways(
        "show me the details of order {order_id}", "show me the details of {order_id!}"
    ),
    "get_order_history": _ways("show me my past orders"),
    "get_stock_info": _ways(
        "look up the stock {symbol}",
        "show me how {symbol} is doing",
        "look up {symbol!}",
        price="the current price of {symbol}",
        percent_change="the percentage by which {symbol} has changed",
        volume="the trading volume of {symbol}",
        **{
            "price!": "that price",
            "percent_change!": "that change in percent",
            "MA(5)": "the short moving average of {symbol}",
            "MA(5)!": "that short moving average",
            "MA(20)": "the long moving average of {symbol}",
            "MA(20)!": "that long moving average",
        },
    ),
    "get_symbol_by_name": _ways("look up the symbol of {name}", any="the stock of {name}"),
    "get_transaction_history": _ways(
        "show me my transactions from {start_date} to {end_date}", "show me my transactions"
    ),
    "get_watchlist": _ways("show me my watchlist"),
    "notify_price_change": _ways(
        "tell me if the prices of {stocks} move by more than {threshold} percent",
        "tell me if the prices of {stocks} move by more percent than {threshold!}",
        "tell me if the prices of {stocks} have moved noticeably",
    ),
    "place_order": _ways(
        "{order_type:buy=buy;sell=sell} {amount} shares of {symbol} at {price}",
        "{order_type:buy=purchase;sell=get rid of} {amount} shares of {symbol} at {price}",
        "{order_type:buy=buy;sell=sell} shares of {symbol} at {price}, as many as {amount!}",
    ),
    "remove_stock_from_watchlist": _ways("take {symbol} off my watchlist"),
    "trading_get_login_status": _ways("check whether I am logged in to the trading system"),
    "trading_login": _ways(
        "log me in to the trading system as {username} with the password {password}"
    ),
    "trading_logout": _ways("log me out of the trading system"),
    "withdraw_funds": _ways(
        "withdraw {amount} dollars from my account", "withdraw {amount!} from my account"
    ),
    # ------------------------------------------------------------------ travel
    "authenticate_travel": _ways(
        "log {user_first_name} {user_last_name} in to the travel system with client id "
        "{client_id}, client secret {client_secret} and refresh token {refresh_token}"
        "[ for {grant_type} access]",
        **{"expires_in!": "the lifetime of that access token"},
    ),
    "book_flight": _ways(
        "book a flight from {travel_from} to {travel_to} on {travel_date}[ in {travel_class}]"
        "[, paid with card {card_id}][, using access token {access_token}]"
    ),
    "cancel_booking": _ways(
        "cancel booking {booking_id}[ with access token {access_token}]",
        "cancel {booking_id!}[ with access token {access_token}]",
    ),
    "compute_exchange_rate": _ways(
        "tell me what {value} {base_currency} are in {target_currency}",
        any="{value} {base_currency} in {target_currency}",
        **{"*!": "that amount"},
    ),
    "contact_customer_support": _ways(
        "tell the customer support about booking {booking_id}: {message}",
        "contact the customer support for {booking_id!} saying {message}",
    ),
    "get_all_credit_cards": _ways("show me all my credit cards"),
    "get_booking_history": _ways("show me my past bookings[ with access token {access_token}]"),
    "get_budget_fiscal_year": _ways(
        "show me the budget of the fiscal year[ if it was changed after {lastModifiedAfter}]"
    ),
    "get_credit_card_balance": _ways(
        "tell me the balance of card {card_id}[ with access token {access_token}]",
        "tell me the balance of {card_id!}[ with access token {access_token}]",
    ),
    "get_flight_cost": _ways(
        "tell me what a flight from {travel_from} to {travel_to} on "
        "{travel_date}[ in {travel_class}] costs",
        any="the fare from {travel_from} to {travel_to} on {travel_date}",
        **{"*!": "that fare"},
    ),
    "get_nearest_airport_by_city": _ways(
        "tell me the airport nearest to {location}",
        travel_from="the airport of {location}",
        travel_to="the airport of {location}",
        any="the airport nearest to {location}",
        **{"*!": "that airport"},
    ),
    "list_all_airports": _ways("list all the airports"),
    "purchase_insurance": _ways(
        "buy {insurance_type} insurance for {insurance_cost} for booking "
        "{booking_id}[, paid with card {card_id}][, using access token "
        "{access_token}]",
        "insure {booking_id!} for {insurance_cost}[, paid with card "
        "{card_id}][, using access token {access_token}]",
    ),
    "register_credit_card": _ways(
        "register the card {card_number} of {cardholder_name} that expires "
        "{expiration_date} with the security code {card_verification_number}"
        "[, using access token {access_token}]"
    ),
    "retrieve_invoice": _ways(
        "get me the invoice[ for booking {booking_id}][ and insurance "
        "{insurance_id}][ with access token {access_token}]",
        "get me the invoice of {booking_id!}[ and of {insurance_id}]"
        "[ with access token {access_token}]",
        **{
            "travel_from!": "the departure airport of that invoice",
            "travel_to!": "the destination of that invoice",
            "travel_date!": "the date of that invoice",
            "travel_class!": "the class of that invoice",
            "travel_cost!": "the fare of that invoice",
        },
    ),
    "set_budget_limit": _ways(
        "set my budget limit to {budget_limit}[ with access token {access_token}]"
    ),
    "travel_get_login_status": _ways("check whether I am logged in to the travel system"),
    "verify_traveler_information": _ways(
        "verify the traveller {first_name} {last_name}, born "
        "{date_of_birth}, passport {passport_number}"
    ),
    # ------------------------------------------------------------------ vehicle
    "activateParkingBrake": _ways(
        "{mode:engage=engage;release=release;*=set} the parking brake",
        "{mode:engage=put on;release=take off;*=set} the parking brake",
    ),
    "adjustClimateControl": _ways(
        "set the climate control to {temperature} degrees[ {unit}]"
        "[ at fan speed {fanSpeed}][ in {mode} mode]",
        "set the temperature of the climate control to {temperature!}[ in {unit}]"
        "[ at fan speed {fanSpeed}][ in {mode} mode]",
    ),
    "check_tire_pressure": _ways("check the pressure of the tires"),
    "displayCarStatus": _ways(
        "show me the {option} status of the car",
        "show me the state of the car's {option:fuel=tank;battery=power cell;"
        "doors=entries;climate=air;headlights=lamps;parkingbrake=hand brake;"
        "brakepedal=pedal;engine=motor;*=systems}",
    ),
    "display_log": _ways("show the log entries {messages}"),
    "estimate_distance": _ways(
        "tell me how far it is from {cityA} to {cityB}",
        any="the distance from {cityA} to {cityB}",
    ),
    "estimate_drive_feasibility_by_mileage": _ways(
        "tell me whether the car can make {distance} miles",
        "tell me whether the car can make {distance!}",
    ),
    "fillFuelTank": _ways(
        "fill {fuelAmount} gallons into the tank",
        "put {fuelAmount} gallons in",
        "fill {fuelAmount!} into the tank",
    ),
    "find_nearest_tire_shop": _ways(
        "find the nearest tire shop", any="the nearest tire shop", **{"*!": "that tire shop"}
    ),
    "gallon_to_liter": _ways(
        "convert {gallon} gallons to liters",
        "convert {gallon!} from gallons to liters",
        any="{gallon} gallons in liters",
        **{"liter!": "that number of liters"},
    ),
    "liter_to_gallon": _ways(
        "convert {liter} liters to gallons",
        "convert {liter!} from liters to gallons",
        any="{liter} liters in gallons",
        **{"gallon!": "that number of gallons"},
    ),
    "get_current_speed": _ways("tell me how fast the car is going"),
    "get_outside_temperature_from_google": _ways("tell me the temperature outside by Google"),
    "get_outside_temperature_from_weather_com": _ways(
        "tell me the temperature outside by weather.com"
    ),
    "get_zipcode_based_on_city": _ways(
        "tell me the zip code of {city}",
        cityA="{city}",
        cityB="{city}",
        any="the zip code of {city}",
        **{"*!": "that zip code"},
    ),
    "lockDoors": _ways(
        "{unlock:true=unlock;false=lock} the {door} doors",
        "{unlock:true=open up;false=secure} {door:*=all the doors} of the car",
    ),
    "pressBrakePedal": _ways(
        "press the brake pedal to {pedalPosition}", "press the brake pedal all the way down"
    ),
    "releaseBrakePedal": _ways("let go of the brake pedal"),
    "setCruiseControl": _ways(
        "{activate:true=set;false=end} the cruise control at {speed} with a "
        "distance of {distanceToNextVehicle}"
    ),
    "setHeadlights": _ways(
        "turn the headlights {mode}", "{mode:on=light up;off=darken;*=see to} the headlights"
    ),
    "set_navigation": _ways("navigate to {destination}", "set the navigation to {destination}"),
    "startEngine": _ways(
        "{ignitionMode:start=start;stop=stop} the engine",
        "{ignitionMode:start=get the engine running;stop=turn the engine off}",
    ),
}
"""Function -> its phrases; what is constant is said in other words than the argument's."""
