-- What the application's role may not do, whatever it was granted. Run after every migration by the tables' owner;
-- :"app" and :'app' are the role's name, here as in psql (psql -v app=holdpoint_app -f prisma/grants.sql).
SELECT set_config('holdpoint.app', :'app', true);

DO $$
DECLARE
  name text;
BEGIN
  -- Evidence is only ever added to.
  FOREACH name IN ARRAY ARRAY['EvidenceEntry'] LOOP
    IF to_regclass(format('%I', name)) IS NOT NULL THEN
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM %I', name, current_setting('holdpoint.app'));
    END IF;
  END LOOP;
  -- What usage is of never changes; a day's figures are replaced and never go.
  FOREACH name IN ARRAY ARRAY['UsageSeries', 'UsageDay', 'FiguresGrant'] LOOP
    IF to_regclass(format('%I', name)) IS NOT NULL THEN
      EXECUTE format('REVOKE DELETE, TRUNCATE ON %I FROM %I', name, current_setting('holdpoint.app'));
    END IF;
  END LOOP;
  -- A closed statement, what its month was settled by, and to whom it was mailed stay.
  FOREACH name IN ARRAY ARRAY['Statement', 'StatementMonth', 'StatementMail'] LOOP
    IF to_regclass(format('%I', name)) IS NOT NULL THEN
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM %I', name, current_setting('holdpoint.app'));
    END IF;
  END LOOP;
  -- The ledger's own row moves on with each entry, and never goes.
  IF to_regclass('"Ledger"') IS NOT NULL THEN
    EXECUTE format('REVOKE DELETE, TRUNCATE ON "Ledger" FROM %I', current_setting('holdpoint.app'));
  END IF;
END
$$;
