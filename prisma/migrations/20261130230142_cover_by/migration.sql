-- Who declared what covers usage of which neither records nor sign-ins tell it. What was sent before says nothing of it.
ALTER TABLE "UsageSeries"
  ADD COLUMN "coverBy" TEXT NOT NULL DEFAULT '',
  ADD CONSTRAINT usage_cover_by_listed CHECK ("coverBy" IN ('', 'organisation', 'machine') AND ("coverBy" = '' OR covered <> 'unknown'));

-- DropIndex
DROP INDEX "UsageSeries_orgId_machineId_client_provider_model_long_cove_key";

-- CreateIndex
CREATE UNIQUE INDEX "UsageSeries_orgId_machineId_client_provider_model_long_cove_key" ON "UsageSeries"("orgId", "machineId", "client", "provider", "model", "long", "covered", "coverBy", "rate", "tagsKey");
