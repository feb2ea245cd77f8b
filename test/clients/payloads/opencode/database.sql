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
INSERT INTO message VALUES('msg_22e100771001CX7iPSzJQdg1pl','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132145,1796069132534,'{"role":"user","time":{"created":1796069132145},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-opus-4-6"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e1007ba001TVB7g5X4Ifzvol','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132218,1796069132452,'{"parentID":"msg_22e100771001CX7iPSzJQdg1pl","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.0010248,"tokens":{"total":199,"input":101,"output":41,"reasoning":0,"cache":{"write":26,"read":31}},"modelID":"claude-opus-4-6","providerID":"anthropic","time":{"created":1796069132218,"completed":1796069132452},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22e1008a7001vhnu0nsFyJ0LvX','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132455,1796069132524,'{"parentID":"msg_22e100771001CX7iPSzJQdg1pl","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.0007383,"tokens":{"total":260,"input":201,"output":8,"reasoning":0,"cache":{"write":0,"read":51}},"modelID":"claude-opus-4-6","providerID":"anthropic","time":{"created":1796069132455,"completed":1796069132524},"finish":"stop"}');
INSERT INTO message VALUES('msg_22e10090d001uEmnca2RBGLM9y','ses_dd1eff707ffeE34qoCsSGurOOv',1796069132557,1796069133375,'{"role":"user","time":{"created":1796069132557},"agent":"build","model":{"providerID":"stub","modelID":"gpt-5.2"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e100918001OMfdq5Tse3u4M1','ses_dd1eff707ffeE34qoCsSGurOOv',1796069132568,1796069133294,'{"parentID":"msg_22e10090d001uEmnca2RBGLM9y","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.003165,"tokens":{"total":1011,"input":1000,"output":11,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069132568,"completed":1796069133286},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22e10096b001Z0EmS9e7yS4CtT','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069132652,1796069133318,'{"role":"user","time":{"created":1796069132652},"agent":"general","model":{"providerID":"stub","modelID":"gpt-5.2"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e100979001Ul9DkgyyuMkOU7','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069132665,1796069132956,'{"parentID":"msg_22e10096b001Z0EmS9e7yS4CtT","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.015315,"tokens":{"total":5021,"input":5000,"output":21,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069132665,"completed":1796069132955},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22e100aa1001JdMOBHEdZmioH3','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069132961,1796069133250,'{"parentID":"msg_22e10096b001Z0EmS9e7yS4CtT","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.01563,"tokens":{"total":5122,"input":5100,"output":22,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069132961,"completed":1796069133250},"finish":"stop"}');
INSERT INTO message VALUES('msg_22e100bf10012zDdelsOR2b135','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133297,1796069133359,'{"parentID":"msg_22e10090d001uEmnca2RBGLM9y","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.00348,"tokens":{"total":1112,"input":1100,"output":12,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069133297,"completed":1796069133358},"finish":"stop"}');
INSERT INTO message VALUES('msg_22e100c45001zTSVHSN8Jo7TcR','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133381,1796069133623,'{"role":"user","time":{"created":1796069133381},"agent":"build","model":{"providerID":"stub","modelID":"gpt-5.2"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e100c85001o001yXjjFbvtD8','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133445,1796069133581,'{"parentID":"msg_22e100c45001zTSVHSN8Jo7TcR","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0.000573,"tokens":{"total":63,"input":31,"output":32,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069133445,"completed":1796069133580},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22e100d0f001DmJ4eqYW0XiRnA','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133583,1796069133661,'{"parentID":"msg_22e100c45001zTSVHSN8Jo7TcR","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069133583,"completed":1796069133660},"error":{"name":"APIError","data":{"message":"scripted error","statusCode":400,"isRetryable":false,"responseHeaders":{"connection":"keep-alive","content-type":"application/json","date":"Mon, 30 Nov 2026 20:05:33 GMT","keep-alive":"timeout=5","transfer-encoding":"chunked"},"responseBody":"{\"type\":\"error\",\"error\":{\"type\":\"stub_error\",\"message\":\"scripted error\"}}","metadata":{"url":"http://127.0.0.1:39169/v1/chat/completions"}}}}');
INSERT INTO message VALUES('msg_22e100d78001avZP1a1LoZT215','ses_dd1eff28effeUnMOrT2TgUv8mq',1796069133688,1796069133733,'{"role":"user","time":{"created":1796069133688},"agent":"build","model":{"providerID":"stub","modelID":"gpt-5.2"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e100d8e001SmEryHqdoLX2ZE','ses_dd1eff28effeUnMOrT2TgUv8mq',1796069133710,1796069136194,'{"parentID":"msg_22e100d78001avZP1a1LoZT215","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069133710,"completed":1796069136192},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}');
INSERT INTO message VALUES('msg_22e10174c001BbjC6cODZYWV9Z','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136204,1796069136259,'{"role":"user","model":{"providerID":"stub","modelID":"gpt-5.2"},"agent":"build","time":{"created":1796069136204},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22e101755001C2tVNBDrNGRQ23','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136213,1796069136252,'{"role":"assistant","parentID":"msg_22e10174c001BbjC6cODZYWV9Z","mode":"compaction","agent":"compaction","summary":true,"path":{"cwd":"/home/dev/project","root":"/"},"cost":0.000996,"tokens":{"total":76,"input":12,"output":64,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"gpt-5.2","providerID":"stub","time":{"created":1796069136213,"completed":1796069136251},"finish":"stop"}');
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
INSERT INTO part VALUES('prt_22e10077a0010dlI8Up2TIvnlH','msg_22e100771001CX7iPSzJQdg1pl','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132161,1796069132162,'{"type":"text","text":"more [stub:ant]"}');
INSERT INTO part VALUES('prt_22e100842001AdCssY7B4sFaO6','msg_22e1007ba001TVB7g5X4Ifzvol','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132354,1796069132355,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e100844001YydEkPUabPNUxt','msg_22e1007ba001TVB7g5X4Ifzvol','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132356,1796069132364,'{"type":"reasoning","text":"hm","time":{"start":1796069132356,"end":1796069132363},"metadata":{"anthropic":{"signature":"c3R1Yg=="}}}');
INSERT INTO part VALUES('prt_22e10084e001Zta7K4FkKmLVtB','msg_22e1007ba001TVB7g5X4Ifzvol','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132366,1796069132376,'{"type":"text","text":"run it.","time":{"start":1796069132366,"end":1796069132374}}');
INSERT INTO part VALUES('prt_22e10085c001O7mnVxTdsOIGOO','msg_22e1007ba001TVB7g5X4Ifzvol','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132380,1796069132445,'{"type":"tool","tool":"bash","callID":"toolu_c668cd82c5e24148b354eae4","state":{"status":"completed","input":{"command":"echo ran","description":"Say it"},"output":"ran\n","metadata":{"output":"ran\n","exit":0,"truncated":false},"title":"echo ran","time":{"start":1796069132388,"end":1796069132444}}}');
INSERT INTO part VALUES('prt_22e10089f001wTn32ioaPG8gmi','msg_22e1007ba001TVB7g5X4Ifzvol','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132447,1796069132448,'{"reason":"tool-calls","type":"step-finish","tokens":{"total":199,"input":101,"output":41,"reasoning":0,"cache":{"write":26,"read":31}},"cost":0.0010248}');
INSERT INTO part VALUES('prt_22e1008e2001HqibYlUIECiaJR','msg_22e1008a7001vhnu0nsFyJ0LvX','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132515,1796069132516,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e1008e5001MaY60eaK6xVpFN','msg_22e1008a7001vhnu0nsFyJ0LvX','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132517,1796069132519,'{"type":"text","text":"final: done","time":{"start":1796069132517,"end":1796069132519}}');
INSERT INTO part VALUES('prt_22e1008e9001voB73aTMudV2AA','msg_22e1008a7001vhnu0nsFyJ0LvX','ses_dd1eff8cdffeGynobvNFpsImvL',1796069132521,1796069132521,'{"reason":"stop","type":"step-finish","tokens":{"total":260,"input":201,"output":8,"reasoning":0,"cache":{"write":0,"read":51}},"cost":0.0007383}');
INSERT INTO part VALUES('prt_22e100911001VKWRj6uZYEkVPD','msg_22e10090d001uEmnca2RBGLM9y','ses_dd1eff707ffeE34qoCsSGurOOv',1796069132562,1796069132563,'{"type":"text","text":"go [stub:task]"}');
INSERT INTO part VALUES('prt_22e100959001Ko38562KRmVdve','msg_22e100918001OMfdq5Tse3u4M1','ses_dd1eff707ffeE34qoCsSGurOOv',1796069132633,1796069132634,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e10095c001TE9UJHD6BI7m2s','msg_22e100918001OMfdq5Tse3u4M1','ses_dd1eff707ffeE34qoCsSGurOOv',1796069132636,1796069133278,'{"type":"tool","tool":"task","callID":"call_a5a1e6acba8c48a896d32b04","state":{"status":"completed","input":{"description":"sub work","prompt":"Do [stub:sub]","subagent_type":"general"},"output":"<task id=\"ses_dd1eff69dffeEWJdcIqeoFacnY\" state=\"completed\">\n<task_result>\nsub final\n</task_result>\n</task>","metadata":{"parentSessionId":"ses_dd1eff707ffeE34qoCsSGurOOv","sessionId":"ses_dd1eff69dffeEWJdcIqeoFacnY","model":{"modelID":"gpt-5.2","providerID":"stub"},"truncated":false},"title":"sub work","time":{"start":1796069132646,"end":1796069133277}}}');
INSERT INTO part VALUES('prt_22e10096e001LjN2EtIFibYS3O','msg_22e10096b001Z0EmS9e7yS4CtT','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069132656,1796069132657,'{"type":"text","text":"Do [stub:sub]"}');
INSERT INTO part VALUES('prt_22e1009c70013dZQUQcSEEkBvB','msg_22e100979001Ul9DkgyyuMkOU7','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069132744,1796069132756,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e1009e4001HfoOpcxM0p0vac','msg_22e100979001Ul9DkgyyuMkOU7','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069132772,1796069132927,'{"type":"tool","tool":"bash","callID":"call_f5f1b70f268b45039a209aa8","state":{"status":"completed","input":{"command":"echo s","description":"Say it"},"output":"s\n","metadata":{"output":"s\n","exit":0,"truncated":false},"title":"echo s","time":{"start":1796069132795,"end":1796069132920}}}');
INSERT INTO part VALUES('prt_22e100a81001JMJibUeef3QP7r','msg_22e100979001Ul9DkgyyuMkOU7','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069132929,1796069132930,'{"reason":"tool-calls","type":"step-finish","tokens":{"total":5021,"input":5000,"output":21,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.015315}');
INSERT INTO part VALUES('prt_22e100b9b001lPVmhnBVAHDRw7','msg_22e100aa1001JdMOBHEdZmioH3','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069133211,1796069133213,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e100b9e001FnWY0jWZV7Q99I','msg_22e100aa1001JdMOBHEdZmioH3','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069133214,1796069133217,'{"type":"text","text":"sub final","time":{"start":1796069133214,"end":1796069133216}}');
INSERT INTO part VALUES('prt_22e100ba20011CWU8Zr6yjFYRW','msg_22e100aa1001JdMOBHEdZmioH3','ses_dd1eff69dffeEWJdcIqeoFacnY',1796069133218,1796069133240,'{"reason":"stop","type":"step-finish","tokens":{"total":5122,"input":5100,"output":22,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.01563}');
INSERT INTO part VALUES('prt_22e100be100111qAxSs9bz2qPl','msg_22e100918001OMfdq5Tse3u4M1','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133281,1796069133282,'{"reason":"tool-calls","type":"step-finish","tokens":{"total":1011,"input":1000,"output":11,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.003165}');
INSERT INTO part VALUES('prt_22e100c23001VqA81Hiuff3off','msg_22e100bf10012zDdelsOR2b135','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133347,1796069133348,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e100c25001yF766L6tmByqub','msg_22e100bf10012zDdelsOR2b135','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133350,1796069133353,'{"type":"text","text":"final: task","time":{"start":1796069133350,"end":1796069133352}}');
INSERT INTO part VALUES('prt_22e100c2a001NQIidhen375ajT','msg_22e100bf10012zDdelsOR2b135','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133354,1796069133354,'{"reason":"stop","type":"step-finish","tokens":{"total":1112,"input":1100,"output":12,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.00348}');
INSERT INTO part VALUES('prt_22e100c46001Ts3w64Jc10IyR1','msg_22e100c45001zTSVHSN8Jo7TcR','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133388,1796069133389,'{"type":"text","text":"go [stub:err]"}');
INSERT INTO part VALUES('prt_22e100cc20013mU0yP1QPicEbs','msg_22e100c85001o001yXjjFbvtD8','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133506,1796069133508,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e100cc5001t1dT1spPDLKJ38','msg_22e100c85001o001yXjjFbvtD8','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133509,1796069133570,'{"type":"tool","tool":"bash","callID":"call_c837483df7f3450892e7d910","state":{"status":"completed","input":{"command":"echo s","description":"Say it"},"output":"s\n","metadata":{"output":"s\n","exit":0,"truncated":false},"title":"echo s","time":{"start":1796069133517,"end":1796069133569}}}');
INSERT INTO part VALUES('prt_22e100d08001tY1H9ScIuZW1G5','msg_22e100c85001o001yXjjFbvtD8','ses_dd1eff707ffeE34qoCsSGurOOv',1796069133576,1796069133576,'{"reason":"tool-calls","type":"step-finish","tokens":{"total":63,"input":31,"output":32,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.000573}');
INSERT INTO part VALUES('prt_22e100d7a0011lXpYIth2VRsTr','msg_22e100d78001avZP1a1LoZT215','ses_dd1eff28effeUnMOrT2TgUv8mq',1796069133692,1796069133692,'{"type":"text","text":"go [stub:slow]"}');
INSERT INTO part VALUES('prt_22e10174e001jAOY8U6C5UIF3Z','msg_22e10174c001BbjC6cODZYWV9Z','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136206,1796069136206,'{"type":"compaction","auto":false}');
INSERT INTO part VALUES('prt_22e1017710018zCotwE0qCS60b','msg_22e101755001C2tVNBDrNGRQ23','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136241,1796069136242,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_22e10177400110iasjZztgnY2b','msg_22e101755001C2tVNBDrNGRQ23','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136244,1796069136246,'{"type":"text","text":"stub title","time":{"start":1796069136244,"end":1796069136245}}');
INSERT INTO part VALUES('prt_22e101777001YTj5ZfNjGmqCvh','msg_22e101755001C2tVNBDrNGRQ23','ses_dd1f00720ffeSki02Za1Y5kxBG',1796069136247,1796069136248,'{"reason":"stop","type":"step-finish","tokens":{"total":76,"input":12,"output":64,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.000996}');
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
INSERT INTO session VALUES('ses_dd1eff8cdffeGynobvNFpsImvL','global',NULL,NULL,'shiny-comet','/home/dev/project','home/dev/project','stub title (fork #1)','1.18.33',NULL,0,0,0,NULL,NULL,0.0033920999999999998895,602,83,13,162,26,NULL,NULL,'build','{"id":"claude-opus-4-6","providerID":"anthropic","variant":"default"}',1796069132082,1796069132529,NULL,NULL);
INSERT INTO session VALUES('ses_dd1eff707ffeE34qoCsSGurOOv','global',NULL,NULL,'crisp-falcon','/home/dev/project','home/dev/project','stub title','1.18.33',NULL,0,0,0,NULL,NULL,0.0072179999999999995899,2131,55,0,0,0,NULL,NULL,'build','{"id":"gpt-5.2","providerID":"stub","variant":"default"}',1796069132536,1796069133595,NULL,NULL);
INSERT INTO session VALUES('ses_dd1eff69dffeEWJdcIqeoFacnY','global',NULL,'ses_dd1eff707ffeE34qoCsSGurOOv','eager-meadow','/home/dev/project','home/dev/project','sub work (@general subagent)','1.18.33',NULL,0,0,0,NULL,NULL,0.030945000000000000284,10100,43,0,0,0,NULL,'[{"permission":"task","pattern":"*","action":"deny"}]','general','{"id":"gpt-5.2","providerID":"stub","variant":"default"}',1796069132642,1796069133301,NULL,NULL);
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
