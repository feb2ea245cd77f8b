-- Days that reports have a note on are few: found without reading the others.
CREATE INDEX usage_day_differs ON "UsageDay" ("orgId", day) INCLUDE (cost, "machineCost") WHERE differing > 0;
CREATE INDEX usage_day_unlisted ON "UsageDay" ("orgId", day) WHERE unlisted <> '{}';
