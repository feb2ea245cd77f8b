-- Totals of a machine whatever its series, so that reports by member do not grow with what each of them uses.
ALTER TABLE "UsageTotal" DROP CONSTRAINT usage_total_span;
ALTER TABLE "UsageTotal" ADD CONSTRAINT usage_total_span CHECK (
  (span IN ('day', 'month', 'machine-day', 'machine-month') AND "machineId" <> '') OR (span IN ('fleet-day', 'fleet-month') AND "machineId" = ''));
-- What stood before has none of them yet: reports make do without until they are made.
INSERT INTO "UsageStale" SELECT DISTINCT "orgId", zone, start, "machineId" FROM "UsageTotal" WHERE span = 'day' ON CONFLICT DO NOTHING;
