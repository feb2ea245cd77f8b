-- Totals of the whole fleet, so that reports do not grow with the number of machines; marked where they are out of date.
CREATE TABLE "UsageStale" (
    "orgId" TEXT NOT NULL,
    "zone" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "machineId" TEXT NOT NULL,

    CONSTRAINT "UsageStale_pkey" PRIMARY KEY ("orgId","zone","day","machineId")
);
ALTER TABLE "UsageTotal" DROP CONSTRAINT usage_total_span;
ALTER TABLE "UsageTotal" ADD CONSTRAINT usage_total_span CHECK (
  (span IN ('day', 'month') AND "machineId" <> '') OR (span IN ('fleet-day', 'fleet-month') AND "machineId" = ''));
-- What stood before has no totals of the fleet yet.
INSERT INTO "UsageStale" SELECT DISTINCT "orgId", zone, start, "machineId" FROM "UsageTotal" WHERE span = 'day';
