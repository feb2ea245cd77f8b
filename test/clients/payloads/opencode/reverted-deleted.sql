PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_22e0ff918001oQ3hRBwE31Srw6','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069128472,1796069132076,'{"role":"user","time":{"created":1796069128472},"agent":"build","model":{"providerID":"stub","modelID":"gpt-5.2"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e100075001ymGBOK2MwU4TCf','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069130358,1796069131933,'{"parentID":"msg_22e0ff918001oQ3hRBwE31Srw6","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.000909,"tokens":{"total":170,"input":100,"output":30,"reasoning":10,"cache":{"write":0,"read":30}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069130358,"completed":1796069131932},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22e1006a5001vs5iq2g07vWtGC','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069131941,1796069132057,'{"parentID":"msg_22e0ff918001oQ3hRBwE31Srw6","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.00072,"tokens":{"total":257,"input":200,"output":4,"reasoning":3,"cache":{"write":0,"read":50}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069131941,"completed":1796069132056},"finish":"stop"}');
INSERT INTO message VALUES('msg_22e100736001RRzQsSZZNu3dG9','ses_dd1eff8cdffeGynobvNFpsImvL',1796069128472,1796069132087,'{"role":"user","time":{"created":1796069128472},"agent":"build","model":{"providerID":"stub","modelID":"gpt-5.2"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e10073a0010F8pdBvnthQoZp','ses_dd1eff8cdffeGynobvNFpsImvL',1796069130358,1796069132092,'{"parentID":"msg_22e100736001RRzQsSZZNu3dG9","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.000909,"tokens":{"total":170,"input":100,"output":30,"reasoning":10,"cache":{"write":0,"read":30}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069130358,"completed":1796069131932},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22e100755001QIKpRt22xHCpwH','ses_dd1eff8cdffeGynobvNFpsImvL',1796069131941,1796069132120,'{"parentID":"msg_22e100736001RRzQsSZZNu3dG9","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.00072,"tokens":{"total":257,"input":200,"output":4,"reasoning":3,"cache":{"write":0,"read":50}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069131941,"completed":1796069132056},"finish":"stop"}');
INSERT INTO message VALUES('msg_22e100d78001avZP1a1LoZT215','ses_dd1eff28effeUnMOrT2TgUv8mq',1796069133688,1796069133733,'{"role":"user","time":{"created":1796069133688},"agent":"build","model":{"providerID":"stub","modelID":"gpt-5.2"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e100d8e001SmEryHqdoLX2ZE','ses_dd1eff28effeUnMOrT2TgUv8mq',1796069133710,1796069136194,'{"parentID":"msg_22e100d78001avZP1a1LoZT215","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069133710,"completed":1796069136192},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}');
INSERT INTO message VALUES('msg_22e10174c001BbjC6cODZYWV9Z','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136204,1796069136259,'{"role":"user","model":{"providerID":"stub","modelID":"gpt-5.2"},"agent":"build","time":{"created":1796069136204},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e101755001C2tVNBDrNGRQ23','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136213,1796069136252,'{"role":"assistant","parentID":"msg_22e10174c001BbjC6cODZYWV9Z","mode":"compaction","agent":"compaction","summary":true,"path":{"cwd":"/home/dev/project","root":"/"},"cost":0.000996,"tokens":{"total":76,"input":12,"output":64,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069136213,"completed":1796069136251},"finish":"stop"}');
INSERT INTO message VALUES('msg_22e101dd4001CMzOjUklWzT9xJ','ses_dd1eff8cdffeGynobvNFpsImvL',1796069137876,1796069137944,'{"role":"user","time":{"created":1796069137876},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-opus-4-6"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e101de5001GnnDvTKXwXnJ15','ses_dd1eff8cdffeGynobvNFpsImvL',1796069137893,1796069137938,'{"parentID":"msg_22e101dd4001CMzOjUklWzT9xJ","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.000366,"tokens":{"total":86,"input":77,"output":9,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"claude-opus-4-6","providerID":"anthropic","time":{"created":1796069137893,"completed":1796069137937},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_22e0ff921001P6SOmn6CX37NqV','msg_22e0ff918001oQ3hRBwE31Srw6','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069128487,1796069128492,'{"type":"text","text":"please [stub:chat]"}');
INSERT INTO part VALUES('prt_22e1005ce001A5j9w0p7nRj7Mt','msg_22e100075001ymGBOK2MwU4TCf','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069131727,1796069131728,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e1005d3001OxlMj1WtPWYSzs','msg_22e100075001ymGBOK2MwU4TCf','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069131733,1796069131777,'{"type":"text","text":"run it","time":{"start":1796069131731,"end":1796069131775}}');
INSERT INTO part VALUES('prt_22e1005da0012b0g7F7SCe4QE1','msg_22e100075001ymGBOK2MwU4TCf','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069131738,1796069131909,'{"type":"tool","tool":"bash","callID":"call_77a1a3c13cff48b68cf5905c","state":{"status":"completed","input":{"command":"echo ran","description":"Say it"},"output":"ran\n","metadata":{"output":"ran\n","exit":0,"truncated":false},"title":"echo ran","time":{"start":1796069131762,"end":1796069131907}}}');
INSERT INTO part VALUES('prt_22e10068b001CvE1Ea6oYDbg7S','msg_22e100075001ymGBOK2MwU4TCf','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069131915,1796069131917,'{"reason":"tool-calls","type":"step-finish","tokens":{"total":170,"input":100,"output":30,"reasoning":10,"cache":{"write":0,"read":30}},"cost":0.000909}');
INSERT INTO part VALUES('prt_22e1006f50011nr3rrLyv4T5qm','msg_22e1006a5001vs5iq2g07vWtGC','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069132021,1796069132025,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e1006fa001V6H6gx4n8EFR5Z','msg_22e1006a5001vs5iq2g07vWtGC','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069132026,1796069132036,'{"type":"text","text":"final: done","time":{"start":1796069132026,"end":1796069132035}}');
INSERT INTO part VALUES('prt_22e100706001Uf1I67TgOScNs6','msg_22e1006a5001vs5iq2g07vWtGC','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069132038,1796069132048,'{"reason":"stop","type":"step-finish","tokens":{"total":257,"input":200,"output":4,"reasoning":3,"cache":{"write":0,"read":50}},"cost":0.00072}');
INSERT INTO part VALUES('prt_22e100738001l5FHjfin4Gy94z','msg_22e100736001RRzQsSZZNu3dG9','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132088,1796069132089,'{"type":"text","text":"please [stub:chat]"}');
INSERT INTO part VALUES('prt_22e10073c001wf4K3pXPqaatNo','msg_22e10073a0010F8pdBvnthQoZp','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132092,1796069132093,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e10073e001iwUOq6G35tlkrD','msg_22e10073a0010F8pdBvnthQoZp','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132094,1796069132095,'{"type":"text","text":"run it","time":{"start":1796069131731,"end":1796069131775}}');
INSERT INTO part VALUES('prt_22e10073f0015WTPpqJVwUE0Jc','msg_22e10073a0010F8pdBvnthQoZp','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132095,1796069132096,'{"type":"tool","tool":"bash","callID":"call_77a1a3c13cff48b68cf5905c","state":{"status":"completed","input":{"command":"echo ran","description":"Say it"},"output":"ran\n","metadata":{"output":"ran\n","exit":0,"truncated":false},"title":"echo ran","time":{"start":1796069131762,"end":1796069131907}}}');
INSERT INTO part VALUES('prt_22e100745001zlbIWoL2XQB2rO','msg_22e10073a0010F8pdBvnthQoZp','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132101,1796069132114,'{"reason":"tool-calls","type":"step-finish","tokens":{"total":170,"input":100,"output":30,"reasoning":10,"cache":{"write":0,"read":30}},"cost":0.000909}');
INSERT INTO part VALUES('prt_22e1007590011Bmw9fRFfnWWpq','msg_22e100755001QIKpRt22xHCpwH','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132121,1796069132122,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e10075b001TkufwxpA6yUxTW','msg_22e100755001QIKpRt22xHCpwH','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132123,1796069132127,'{"type":"text","text":"final: done","time":{"start":1796069132026,"end":1796069132035}}');
INSERT INTO part VALUES('prt_22e100761001ILfCZR36azfn61','msg_22e100755001QIKpRt22xHCpwH','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132129,1796069132131,'{"reason":"stop","type":"step-finish","tokens":{"total":257,"input":200,"output":4,"reasoning":3,"cache":{"write":0,"read":50}},"cost":0.00072}');
INSERT INTO part VALUES('prt_22e100d7a0011lXpYIth2VRsTr','msg_22e100d78001avZP1a1LoZT215','ses_dd1eff28effeUnMOrT2TgUv8mq',1796069133692,1796069133692,'{"type":"text","text":"go [stub:slow]"}');
INSERT INTO part VALUES('prt_22e10174e001jAOY8U6C5UIF3Z','msg_22e10174c001BbjC6cODZYWV9Z','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136206,1796069136206,'{"type":"compaction","auto":false}');
INSERT INTO part VALUES('prt_22e1017710018zCotwE0qCS60b','msg_22e101755001C2tVNBDrNGRQ23','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136241,1796069136242,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e10177400110iasjZztgnY2b','msg_22e101755001C2tVNBDrNGRQ23','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136244,1796069136246,'{"type":"text","text":"stub title","time":{"start":1796069136244,"end":1796069136245}}');
INSERT INTO part VALUES('prt_22e101777001YTj5ZfNjGmqCvh','msg_22e101755001C2tVNBDrNGRQ23','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136247,1796069136248,'{"reason":"stop","type":"step-finish","tokens":{"total":76,"input":12,"output":64,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.000996}');
INSERT INTO part VALUES('prt_22e101dd4002JqsQBGkh1F8hKT','msg_22e101dd4001CMzOjUklWzT9xJ','ses_dd1eff8cdffeGynobvNFpsImvL',1796069137878,1796069137878,'{"type":"text","text":"again [stub:again]"}');
INSERT INTO part VALUES('prt_22e101e09001GZliPRYdJPzDqN','msg_22e101de5001GnnDvTKXwXnJ15','ses_dd1eff8cdffeGynobvNFpsImvL',1796069137929,1796069137930,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e101e0b001nV1zIDKCAKzRPe','msg_22e101de5001GnnDvTKXwXnJ15','ses_dd1eff8cdffeGynobvNFpsImvL',1796069137931,1796069137933,'{"type":"text","text":"again","time":{"start":1796069137931,"end":1796069137932}}');
INSERT INTO part VALUES('prt_22e101e0e0011HUjyCTV6JVD6U','msg_22e101de5001GnnDvTKXwXnJ15','ses_dd1eff8cdffeGynobvNFpsImvL',1796069137934,1796069137935,'{"reason":"stop","type":"step-finish","tokens":{"total":86,"input":77,"output":9,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.000366}');
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO session VALUES('ses_dd1f00720ffeSki02Za1Y5kxBG','global',NULL,NULL,'curious-otter','/home/dev/project','home/dev/project','stub title','1.18.33',NULL,0,0,0,NULL,NULL,0.0026249999999999997293,312,98,13,80,0,NULL,NULL,'build','{"id":"gpt-5.2","providerID":"stub","variant":"default"}',1796069128415,1796069136255,NULL,NULL);
INSERT INTO session VALUES('ses_dd1eff8cdffeGynobvNFpsImvL','global',NULL,NULL,'shiny-comet','/home/dev/project','home/dev/project','stub title (fork #1)','1.18.33',NULL,0,0,0,NULL,NULL,0.0019950000000000002453,377,43,13,80,0,NULL,NULL,'build','{"id":"claude-opus-4-6","providerID":"anthropic","variant":"default"}',1796069132082,1796069137941,NULL,NULL);
INSERT INTO session VALUES('ses_dd1eff28effeUnMOrT2TgUv8mq','global',NULL,NULL,'lucky-lagoon','/home/dev/project','home/dev/project','stub title','1.18.33',NULL,0,0,0,NULL,NULL,0.0,0,0,0,0,0,NULL,NULL,'build','{"id":"gpt-5.2","providerID":"stub","variant":"default"}',1796069133681,1796069133729,NULL,NULL);
CREATE TABLE `session_message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `type` text NOT NULL,
          `seq` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_session_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE INDEX `message_session_time_created_id_idx` ON `message` (`session_id`,`time_created`,`id`);
CREATE INDEX `part_message_id_id_idx` ON `part` (`message_id`,`id`);
CREATE INDEX `part_session_idx` ON `part` (`session_id`);
CREATE UNIQUE INDEX `session_message_session_seq_idx` ON `session_message` (`session_id`,`seq`);
CREATE INDEX `session_message_session_type_seq_idx` ON `session_message` (`session_id`,`type`,`seq`);
CREATE INDEX `session_message_session_time_created_id_idx` ON `session_message` (`session_id`,`time_created`,`id`);
CREATE INDEX `session_message_time_created_idx` ON `session_message` (`time_created`);
CREATE INDEX `session_project_idx` ON `session` (`project_id`);
CREATE INDEX `session_workspace_idx` ON `session` (`workspace_id`);
CREATE INDEX `session_parent_idx` ON `session` (`parent_id`);
COMMIT;
