-- Two that make one month at once: the second asks the catalogue itself, since the look-up by name remembers that there was none.
CREATE OR REPLACE FUNCTION usage_month(at date) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  month date := date_trunc('month', at)::date;
  part text := 'UsageBucket_' || to_char(month, 'YYYYMM');
BEGIN
  IF month < date '2023-01-01' OR to_regclass(format('%I', part)) IS NOT NULL THEN RETURN false; END IF;
  IF month > (now() AT TIME ZONE 'UTC')::date + 100 THEN
    RAISE EXCEPTION 'usage_month_far_ahead' USING ERRCODE = 'check_violation';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('usage_month'));
  IF EXISTS (SELECT FROM pg_class WHERE relname = part AND relnamespace = 'public'::regnamespace) THEN RETURN false; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE "UsageBucket" INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part);
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT in_month CHECK (day >= %L AND day < %L)', part, month, month + interval '1 month');
  EXECUTE format('ALTER TABLE "UsageBucket" ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, month, (month + interval '1 month')::date);
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT in_month', part);
  RETURN true;
END $$;
