-- What the database itself refuses. Each refusal names itself, so that a test can name it too.

-- Organisations
ALTER TABLE "Organisation"
  ADD CONSTRAINT organisation_slug_shape CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  ADD CONSTRAINT organisation_max_age CHECK ("maxAgeS" BETWEEN 60 AND 2592000);

-- One living membership per address and organisation; removed ones stay as history.
CREATE UNIQUE INDEX member_address_once ON "Member" ("orgId", email) WHERE "removedAt" IS NULL;
ALTER TABLE "Member" ADD CONSTRAINT member_address_shape CHECK (email = lower(email) AND email ~ '^[^@[:space:]"<>,;]+@[^@[:space:]"<>,;]+$');

-- The last owner stays.
CREATE FUNCTION keep_last_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.role = 'owner' AND OLD."removedAt" IS NULL AND (NEW.role <> 'owner' OR NEW."removedAt" IS NOT NULL) THEN
    PERFORM 1 FROM "Organisation" WHERE id = OLD."orgId" FOR NO KEY UPDATE;
    IF NOT EXISTS (SELECT 1 FROM "Member" WHERE "orgId" = OLD."orgId" AND id <> OLD.id AND role = 'owner' AND "removedAt" IS NULL) THEN
      RAISE EXCEPTION 'last_owner_stays' USING ERRCODE = 'check_violation';
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_last_owner BEFORE UPDATE ON "Member" FOR EACH ROW EXECUTE FUNCTION keep_last_owner();

-- How a session began never changes.
CREATE FUNCTION session_beginning_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.method, NEW."orgId", NEW."memberId", NEW."authnAt", NEW.demo) IS DISTINCT FROM (OLD.method, OLD."orgId", OLD."memberId", OLD."authnAt", OLD.demo)
     OR NEW."parentToken" IS DISTINCT FROM OLD."parentToken" OR NEW."idpConnectionId" IS DISTINCT FROM OLD."idpConnectionId" THEN
    RAISE EXCEPTION 'session_beginning_stays' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER session_beginning_stays BEFORE UPDATE ON "Session" FOR EACH ROW EXECUTE FUNCTION session_beginning_stays();
ALTER TABLE "Session"
  ADD CONSTRAINT session_link_has_parent CHECK (method <> 'device_link' OR "parentToken" IS NOT NULL),
  ADD CONSTRAINT session_oidc_has_connection CHECK ((method = 'oidc') = ("idpConnectionId" IS NOT NULL)),
  ADD CONSTRAINT session_credential_is_no_session CHECK (method <> 'admin_credential');

ALTER TABLE "SignInAttempt" ADD CONSTRAINT attempt_tries CHECK (tries BETWEEN 0 AND 5);

-- Tokens
ALTER TABLE "Token"
  ADD CONSTRAINT token_machine_has_machine CHECK (kind <> 'machine' OR "machineId" IS NOT NULL),
  ADD CONSTRAINT token_short_lived CHECK (kind = 'machine' OR "expiresAt" IS NOT NULL);

-- Machines
ALTER TABLE "Machine" ADD CONSTRAINT machine_figures CHECK ("reportSeq" >= 0 AND "rulesVersion" >= 0 AND "journalSeq" >= 0 AND "answerSeq" >= 0);
ALTER TABLE "HourlyCount" ADD CONSTRAINT count_not_negative CHECK (calls >= 0);
ALTER TABLE "UnguardedCalls" ADD CONSTRAINT unguarded_not_negative CHECK (calls >= 0);

-- Published rule sets are immutable, but for a new signature over the same bytes.
CREATE FUNCTION rule_set_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'rule_set_stays' USING ERRCODE = 'check_violation'; END IF;
  IF (NEW."orgId", NEW.version, NEW.digest, NEW.text, NEW.note, NEW.how, NEW."publishedAt") IS DISTINCT FROM (OLD."orgId", OLD.version, OLD.digest, OLD.text, OLD.note, OLD.how, OLD."publishedAt")
     OR NEW."publishedById" IS DISTINCT FROM OLD."publishedById"
     OR split_part(NEW.jws, '.', 2) IS DISTINCT FROM split_part(OLD.jws, '.', 2) THEN
    RAISE EXCEPTION 'rule_set_stays' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER rule_set_stays BEFORE UPDATE OR DELETE ON "RuleSetVersion" FOR EACH ROW EXECUTE FUNCTION rule_set_stays();

-- Versions rise by any step (a restored backup skips what machines have seen), roots by one.
CREATE FUNCTION rule_set_rises() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM "Organisation" WHERE id = NEW."orgId" FOR NO KEY UPDATE;
  IF EXISTS (SELECT 1 FROM "RuleSetVersion" WHERE "orgId" = NEW."orgId" AND version >= NEW.version) THEN
    RAISE EXCEPTION 'rule_set_rises' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER rule_set_rises BEFORE INSERT ON "RuleSetVersion" FOR EACH ROW EXECUTE FUNCTION rule_set_rises();

CREATE FUNCTION root_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN RAISE EXCEPTION 'root_stays' USING ERRCODE = 'check_violation'; END IF;
  IF NEW.seq <> 1 + (SELECT count(*) FROM "RootDocument" WHERE "orgId" = NEW."orgId") THEN
    RAISE EXCEPTION 'root_rises_by_one' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER root_stays BEFORE INSERT OR UPDATE OR DELETE ON "RootDocument" FOR EACH ROW EXECUTE FUNCTION root_stays();

-- Approvals: one open request per machine and subject; its states and no other way between them.
CREATE UNIQUE INDEX approval_open_once ON "ApprovalRequest" ("machineId", "subjectKey") WHERE state = 'pending';
ALTER TABLE "ApprovalRequest"
  ADD CONSTRAINT approval_role_on_ladder CHECK (role <> 'auditor'),
  ADD CONSTRAINT approval_quorum CHECK (approvals BETWEEN 1 AND 5),
  ADD CONSTRAINT approval_handle_shape CHECK (handle ~ '^bnd-[0-9a-f]{12}$'),
  ADD CONSTRAINT approval_waits_a_day CHECK ("expiresAt" > "createdAt" AND "expiresAt" <= "createdAt" + interval '24 hours'),
  ADD CONSTRAINT approval_stands_a_day CHECK ("standsUntil" IS NULL OR "standsUntil" <= "createdAt" + interval '48 hours'),
  ADD CONSTRAINT approval_settled CHECK ((state = 'pending') = ("settledAt" IS NULL));

CREATE FUNCTION approval_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW."orgId", NEW.handle, NEW."machineId", NEW."memberId", NEW.digest, NEW."requestJws", NEW."createdAt", NEW."expiresAt", NEW.role, NEW.approvals, NEW."selfAnswer")
     IS DISTINCT FROM (OLD."orgId", OLD.handle, OLD."machineId", OLD."memberId", OLD.digest, OLD."requestJws", OLD."createdAt", OLD."expiresAt", OLD.role, OLD.approvals, OLD."selfAnswer") THEN
    RAISE EXCEPTION 'approval_request_stays' USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.state <> OLD.state AND NOT (
       (OLD.state = 'pending' AND NEW.state IN ('approved', 'denied', 'expired', 'withdrawn'))
    OR (OLD.state = 'approved' AND NEW.state IN ('used', 'revoked', 'lapsed'))
  ) THEN
    RAISE EXCEPTION 'approval_cannot_move_from_%_to_%', OLD.state, NEW.state USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.state = 'approved' AND OLD.state = 'pending' AND clock_timestamp() >= OLD."expiresAt" THEN
    RAISE EXCEPTION 'approval_expired' USING ERRCODE = 'check_violation';
  END IF;
  IF NEW."rowVersion" <> OLD."rowVersion" + 1 THEN
    RAISE EXCEPTION 'approval_row_version' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER approval_moves BEFORE UPDATE ON "ApprovalRequest" FOR EACH ROW EXECUTE FUNCTION approval_moves();

-- Votes and answers are appended, never changed; what began from a machine's token never votes.
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%_append_only', lower(TG_TABLE_NAME) USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER vote_append_only BEFORE UPDATE OR DELETE ON "ApprovalVote" FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER answer_append_only BEFORE UPDATE OR DELETE ON "ApprovalAnswer" FOR EACH ROW EXECUTE FUNCTION append_only();
ALTER TABLE "ApprovalVote"
  ADD CONSTRAINT vote_never_by_link CHECK (method <> 'device_link'),
  ADD CONSTRAINT vote_how CHECK (how IN ('web', 'team-cli', 'passkey')),
  ADD CONSTRAINT vote_role_on_ladder CHECK (role <> 'auditor');

-- The ledger: appended without a gap, never changed.
CREATE TRIGGER evidence_append_only BEFORE UPDATE OR DELETE ON "EvidenceEntry" FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER evidence_not_truncated BEFORE TRUNCATE ON "EvidenceEntry" FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE FUNCTION evidence_without_gap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.seq <> 1 + (SELECT size FROM "Ledger" WHERE "orgId" = NEW."orgId") THEN
    RAISE EXCEPTION 'evidence_without_gap' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER evidence_without_gap BEFORE INSERT ON "EvidenceEntry" FOR EACH ROW EXECUTE FUNCTION evidence_without_gap();
CREATE FUNCTION ledger_grows_by_one() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.size <> OLD.size + 1 THEN RAISE EXCEPTION 'ledger_grows_by_one' USING ERRCODE = 'check_violation'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_grows_by_one BEFORE UPDATE ON "Ledger" FOR EACH ROW EXECUTE FUNCTION ledger_grows_by_one();
