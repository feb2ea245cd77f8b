-- Usage: the partitions of its buckets, and what the database itself refuses of it. Each refusal names itself.

-- One partition a month, and one for everything before there could be any. The application may not make tables, so this
-- runs as the tables' owner and makes nothing else. Attaching keeps neither readers nor writers waiting.
CREATE FUNCTION usage_month(at date) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  month date := date_trunc('month', at)::date;
  part text := 'UsageBucket_' || to_char(month, 'YYYYMM');
BEGIN
  IF month < date '2023-01-01' OR to_regclass(format('%I', part)) IS NOT NULL THEN RETURN false; END IF;
  IF month > (now() AT TIME ZONE 'UTC')::date + 100 THEN
    RAISE EXCEPTION 'usage_month_far_ahead' USING ERRCODE = 'check_violation';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('usage_month'));
  IF to_regclass(format('%I', part)) IS NOT NULL THEN RETURN false; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE "UsageBucket" INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part);
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT in_month CHECK (day >= %L AND day < %L)', part, month, month + interval '1 month');
  EXECUTE format('ALTER TABLE "UsageBucket" ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, month, (month + interval '1 month')::date);
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT in_month', part);
  RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION usage_month(date) FROM PUBLIC;
CREATE TABLE "UsageBucket_before" PARTITION OF "UsageBucket" FOR VALUES FROM (MINVALUE) TO ('2023-01-01');

-- A zone of the database's own list.
CREATE FUNCTION is_time_zone(name text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM now() AT TIME ZONE name;
  RETURN name ~ '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$';
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN false;
END $$;
ALTER TABLE "Organisation"
  ADD CONSTRAINT organisation_time_zone CHECK (is_time_zone("timeZone") AND ("nextTimeZone" IS NULL OR is_time_zone("nextTimeZone")));

-- Listed words only: no prose and no path fits into any of them.
CREATE FUNCTION usage_tags_fit(tags jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_typeof(tags) = 'object' AND (SELECT count(*) <= 8 AND coalesce(bool_and(key ~ '^[a-z][a-z0-9_-]{0,31}$' AND value ~ '^[a-z0-9][a-z0-9._-]{0,62}$'), true) FROM jsonb_each_text(tags))
$$;
ALTER TABLE "UsageSeries"
  ADD CONSTRAINT usage_client_listed CHECK (client IN ('claude-code', 'codex', 'opencode', 'gemini', 'copilot', 'cursor', 'other')),
  ADD CONSTRAINT usage_provider_listed CHECK (provider IN ('anthropic', 'openai', 'google', 'x-ai', 'deepseek', 'mistral', 'moonshotai', 'zai', 'minimax', 'other')),
  ADD CONSTRAINT usage_model_shape CHECK (model ~ '^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,99}$'),
  ADD CONSTRAINT usage_covered_listed CHECK (covered IN ('plan', 'metered', 'unknown')),
  ADD CONSTRAINT usage_rate_listed CHECK (rate IN ('card', 'override', 'fallback', 'zero', 'substitute')),
  ADD CONSTRAINT usage_tags_shape CHECK (usage_tags_fit(tags));
CREATE FUNCTION usage_series_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'usage_series_stays' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER usage_series_stays BEFORE UPDATE OR DELETE ON "UsageSeries" FOR EACH ROW EXECUTE FUNCTION usage_series_stays();

-- A day's figures come with a higher number each time; leaving never erases them.
ALTER TABLE "UsageDay"
  ADD CONSTRAINT usage_day_figures CHECK (seq > 0 AND buckets BETWEEN 0 AND 20000 AND calls >= 0 AND cost >= 0 AND "machineCost" >= 0 AND differing BETWEEN 0 AND 20000 AND "ruleVersion" >= 0);
CREATE FUNCTION usage_day_rises() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'usage_day_stays' USING ERRCODE = 'check_violation'; END IF;
  IF NEW.seq < OLD.seq OR (NEW."orgId", NEW."machineId", NEW.day) IS DISTINCT FROM (OLD."orgId", OLD."machineId", OLD.day) THEN
    RAISE EXCEPTION 'usage_day_rises' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER usage_day_rises BEFORE UPDATE OR DELETE ON "UsageDay" FOR EACH ROW EXECUTE FUNCTION usage_day_rises();

ALTER TABLE "UsageBucket"
  ADD CONSTRAINT usage_bucket_quarter CHECK (quarter BETWEEN 0 AND 95),
  ADD CONSTRAINT usage_bucket_calls CHECK (calls BETWEEN 1 AND 10000000 AND partial BETWEEN 0 AND calls),
  ADD CONSTRAINT usage_bucket_tokens CHECK (
    least(input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches") >= 0
    AND greatest(input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches") <= 100000000000),
  ADD CONSTRAINT usage_bucket_cost CHECK (cost BETWEEN 0 AND 1000000000);
ALTER TABLE "UsageTotal"
  ADD CONSTRAINT usage_total_span CHECK (span IN ('day', 'month')),
  ADD CONSTRAINT usage_total_not_negative CHECK (
    least(calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches") >= 0 AND cost >= 0);
ALTER TABLE "UsageQuarantine"
  ADD CONSTRAINT usage_quarantine_figures CHECK (seq > 0 AND buckets BETWEEN 0 AND 20000 AND calls >= 0 AND "releaseAt" > "receivedAt");
ALTER TABLE "UsageUpload" ADD CONSTRAINT usage_upload_seq CHECK (seq > 0);

-- A grant says why and ends.
ALTER TABLE "FiguresGrant"
  ADD CONSTRAINT figures_grant_reason CHECK (length(btrim(reason)) BETWEEN 3 AND 500),
  ADD CONSTRAINT figures_grant_ends CHECK ("expiresAt" > "createdAt" AND "expiresAt" <= "createdAt" + interval '366 days'),
  ADD CONSTRAINT figures_grant_ended CHECK (("endedAt" IS NULL) = ("endedById" IS NULL));
CREATE FUNCTION figures_grant_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD."endedAt" IS NOT NULL
     OR (NEW.id, NEW."orgId", NEW."holderId", NEW.reason, NEW."grantedById", NEW."createdAt", NEW."expiresAt") IS DISTINCT FROM (OLD.id, OLD."orgId", OLD."holderId", OLD.reason, OLD."grantedById", OLD."createdAt", OLD."expiresAt")
     OR NEW."subjectId" IS DISTINCT FROM OLD."subjectId" THEN
    RAISE EXCEPTION 'figures_grant_stays' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER figures_grant_stays BEFORE UPDATE OR DELETE ON "FiguresGrant" FOR EACH ROW EXECUTE FUNCTION figures_grant_stays();
