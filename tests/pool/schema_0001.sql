BEGIN TRANSACTION;
CREATE TABLE rods_clock (
	step INTEGER NOT NULL, 
	epoch INTEGER NOT NULL, 
	PRIMARY KEY (step)
);
INSERT INTO "rods_clock" VALUES(1,0);
INSERT INTO "rods_clock" VALUES(2,1);
CREATE TABLE rods_entry (
	id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	origin VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	reason VARCHAR, 
	parent_id VARCHAR, 
	generation INTEGER NOT NULL, 
	distance FLOAT NOT NULL, 
	created_step INTEGER NOT NULL, 
	visits INTEGER NOT NULL, 
	mean FLOAT, 
	variance FLOAT, 
	flat_visits INTEGER NOT NULL, 
	last_step INTEGER, 
	first_mean FLOAT, 
	shuffle BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rods_entry" VALUES('seed-0','base','seed','active',NULL,NULL,0,0.0,0,2,0.5,0.25,0,2,NULL,1045468343);
INSERT INTO "rods_entry" VALUES('syn-a','base','synthetic','candidate',NULL,'seed-0',1,0.0,1,0,NULL,NULL,0,NULL,NULL,1519021014);
INSERT INTO "rods_entry" VALUES('syn-b','base','synthetic','trial',NULL,'seed-0',1,0.0,1,0,NULL,NULL,0,NULL,NULL,1397906269);
INSERT INTO "rods_entry" VALUES('syn-c','base','synthetic','retired','burn_in','seed-0',1,0.0,1,1,0.1,0.01,0,2,0.1,1648934520);
CREATE TABLE rods_observation (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	entry_id VARCHAR NOT NULL, 
	step INTEGER NOT NULL, 
	epoch INTEGER NOT NULL, 
	draw_seed BIGINT, 
	rewards TEXT NOT NULL, 
	mean FLOAT, 
	variance FLOAT, 
	policy_version INTEGER NOT NULL, 
	scored BOOLEAN NOT NULL, 
	unscored INTEGER NOT NULL, 
	format_failures INTEGER NOT NULL, 
	FOREIGN KEY(entry_id) REFERENCES rods_entry (id) ON DELETE CASCADE
);
INSERT INTO "rods_observation" VALUES(1,'seed-0',1,0,NULL,'[0.5, 0.5]',0.5,0.0,0,1,0,0);
INSERT INTO "rods_observation" VALUES(2,'seed-0',2,1,NULL,'[0.0, 1.0]',0.5,0.25,0,1,0,0);
INSERT INTO "rods_observation" VALUES(3,'syn-c',2,1,NULL,'[0.0, 0.2]',0.1,0.01,0,1,0,0);
CREATE TABLE rods_payload (
	entry_id VARCHAR NOT NULL, 
	task TEXT NOT NULL, 
	PRIMARY KEY (entry_id), 
	FOREIGN KEY(entry_id) REFERENCES rods_entry (id) ON DELETE CASCADE
);
INSERT INTO "rods_payload" VALUES('seed-0','{"id":"seed-0","environment":"nowhere","kind":"base","split":"train","tools":["look"],"turns":[{"user":"Look."}],"initial_state":{},"origin":"seed","generation":0}');
INSERT INTO "rods_payload" VALUES('syn-a','{"id":"syn-a","environment":"nowhere","kind":"base","split":"train","tools":["look"],"turns":[{"user":"Look."}],"initial_state":{},"origin":"synthetic","generation":1}');
INSERT INTO "rods_payload" VALUES('syn-b','{"id":"syn-b","environment":"nowhere","kind":"base","split":"train","tools":["look"],"turns":[{"user":"Look."}],"initial_state":{},"origin":"synthetic","generation":1}');
INSERT INTO "rods_payload" VALUES('syn-c','{"id":"syn-c","environment":"nowhere","kind":"base","split":"train","tools":["look"],"turns":[{"user":"Look."}],"initial_state":{},"origin":"synthetic","generation":1}');
CREATE TABLE rods_plan (
	epoch INTEGER NOT NULL, 
	step INTEGER NOT NULL, 
	"plan" TEXT NOT NULL, 
	PRIMARY KEY (epoch)
);
CREATE TABLE rods_provenance (
	entry_id VARCHAR NOT NULL, 
	synthesizer VARCHAR NOT NULL, 
	seed BIGINT NOT NULL, 
	program VARCHAR NOT NULL, 
	edit VARCHAR NOT NULL, 
	substitutions TEXT NOT NULL, 
	calls INTEGER NOT NULL, 
	tokens BIGINT NOT NULL, 
	seconds FLOAT NOT NULL, 
	PRIMARY KEY (entry_id), 
	FOREIGN KEY(entry_id) REFERENCES rods_entry (id) ON DELETE CASCADE
);
CREATE TABLE rods_rejection (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	seed_id VARCHAR NOT NULL, 
	request_step INTEGER NOT NULL, 
	step INTEGER NOT NULL, 
	stage VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	count INTEGER NOT NULL, 
	details TEXT NOT NULL
);
INSERT INTO "rods_rejection" VALUES(1,'seed-0',1,1,'critique','leak',2,'["look"]');
CREATE TABLE rods_request (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	entry_id VARCHAR NOT NULL, 
	step INTEGER NOT NULL, 
	done_step INTEGER, 
	owner VARCHAR, 
	lease_until FLOAT, 
	seconds FLOAT NOT NULL, 
	FOREIGN KEY(entry_id) REFERENCES rods_entry (id) ON DELETE CASCADE, 
	CONSTRAINT rods_request_once UNIQUE (entry_id, step)
);
INSERT INTO "rods_request" VALUES(1,'seed-0',1,1,NULL,NULL,2.0);
CREATE TABLE rods_schema (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT rods_schema_pkc PRIMARY KEY (version_num)
);
INSERT INTO "rods_schema" VALUES('0001');
CREATE TABLE rods_transition (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	entry_id VARCHAR NOT NULL, 
	step INTEGER NOT NULL, 
	epoch INTEGER, 
	from_state VARCHAR, 
	to_state VARCHAR NOT NULL, 
	reason VARCHAR, 
	mean FLOAT, 
	FOREIGN KEY(entry_id) REFERENCES rods_entry (id) ON DELETE CASCADE
);
INSERT INTO "rods_transition" VALUES(1,'seed-0',0,NULL,NULL,'active',NULL,NULL);
INSERT INTO "rods_transition" VALUES(2,'syn-a',1,NULL,NULL,'candidate',NULL,NULL);
INSERT INTO "rods_transition" VALUES(3,'syn-b',1,NULL,NULL,'candidate',NULL,NULL);
INSERT INTO "rods_transition" VALUES(4,'syn-c',1,NULL,NULL,'candidate',NULL,NULL);
INSERT INTO "rods_transition" VALUES(5,'syn-b',1,1,'candidate','trial',NULL,NULL);
INSERT INTO "rods_transition" VALUES(6,'syn-c',1,1,'candidate','trial',NULL,NULL);
INSERT INTO "rods_transition" VALUES(7,'syn-c',2,1,'trial','active',NULL,0.1);
INSERT INTO "rods_transition" VALUES(8,'syn-c',2,2,'active','retired','burn_in',0.1);
CREATE TABLE rods_writer (
	id INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rods_writer" VALUES(1);
CREATE INDEX rods_entry_order ON rods_entry (created_step, id);
CREATE INDEX rods_entry_parent ON rods_entry (parent_id);
CREATE INDEX rods_entry_state ON rods_entry (state, kind);
CREATE INDEX ix_rods_plan_step ON rods_plan (step);
CREATE INDEX rods_rejection_reason ON rods_rejection (stage, reason);
CREATE INDEX rods_rejection_step ON rods_rejection (step);
CREATE INDEX rods_observation_entry ON rods_observation (entry_id, step, id);
CREATE INDEX rods_observation_step ON rods_observation (step);
CREATE INDEX rods_request_queue ON rods_request (done_step, step, id);
CREATE INDEX rods_transition_entry ON rods_transition (entry_id, id);
CREATE INDEX rods_transition_epoch ON rods_transition (epoch);
CREATE INDEX rods_transition_step ON rods_transition (step);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('rods_transition',8);
INSERT INTO "sqlite_sequence" VALUES('rods_observation',3);
INSERT INTO "sqlite_sequence" VALUES('rods_request',1);
INSERT INTO "sqlite_sequence" VALUES('rods_rejection',1);
COMMIT;
