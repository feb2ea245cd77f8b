-- AlterTable
ALTER TABLE "Machine" ADD COLUMN     "usageAt" TIMESTAMPTZ(3),
ADD COLUMN     "usageSeq" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "Organisation" ADD COLUMN     "nextTimeZone" TEXT,
ADD COLUMN     "timeZone" TEXT NOT NULL DEFAULT 'UTC';

-- CreateTable
CREATE TABLE "UsageSeries" (
    "orgId" TEXT NOT NULL,
    "id" SERIAL NOT NULL,
    "machineId" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "long" BOOLEAN NOT NULL,
    "covered" TEXT NOT NULL,
    "rate" TEXT NOT NULL,
    "tags" JSONB NOT NULL,
    "tagsKey" TEXT NOT NULL,

    CONSTRAINT "UsageSeries_pkey" PRIMARY KEY ("orgId","id")
);

-- CreateTable
CREATE TABLE "UsageDay" (
    "orgId" TEXT NOT NULL,
    "machineId" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "seq" INTEGER NOT NULL,
    "computedAt" TIMESTAMPTZ(3) NOT NULL,
    "receivedAt" TIMESTAMPTZ(3) NOT NULL,
    "digest" TEXT NOT NULL,
    "buckets" INTEGER NOT NULL,
    "calls" BIGINT NOT NULL,
    "cost" DECIMAL(38,12) NOT NULL,
    "machineCost" DECIMAL(38,12) NOT NULL,
    "differing" INTEGER NOT NULL,
    "ruleVersion" INTEGER NOT NULL,
    "unlisted" JSONB NOT NULL,

    CONSTRAINT "UsageDay_pkey" PRIMARY KEY ("orgId","machineId","day")
);

-- CreateTable
CREATE TABLE "UsageBucket" (
    "orgId" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "machineId" TEXT NOT NULL,
    "quarter" SMALLINT NOT NULL,
    "seriesId" INTEGER NOT NULL,
    "calls" INTEGER NOT NULL,
    "partial" INTEGER NOT NULL,
    "input" BIGINT NOT NULL,
    "cacheRead" BIGINT NOT NULL,
    "cacheWrite5m" BIGINT NOT NULL,
    "cacheWrite1h" BIGINT NOT NULL,
    "output" BIGINT NOT NULL,
    "webSearches" BIGINT NOT NULL,
    "cost" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "UsageBucket_pkey" PRIMARY KEY ("orgId","day","machineId","quarter","seriesId")
) PARTITION BY RANGE ("day");

-- CreateTable
CREATE TABLE "UsageTotal" (
    "orgId" TEXT NOT NULL,
    "zone" TEXT NOT NULL,
    "span" TEXT NOT NULL,
    "start" DATE NOT NULL,
    "machineId" TEXT NOT NULL,
    "seriesId" INTEGER NOT NULL,
    "calls" BIGINT NOT NULL,
    "partial" BIGINT NOT NULL,
    "input" BIGINT NOT NULL,
    "cacheRead" BIGINT NOT NULL,
    "cacheWrite5m" BIGINT NOT NULL,
    "cacheWrite1h" BIGINT NOT NULL,
    "output" BIGINT NOT NULL,
    "webSearches" BIGINT NOT NULL,
    "cost" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "UsageTotal_pkey" PRIMARY KEY ("orgId","zone","span","start","machineId","seriesId")
);

-- CreateTable
CREATE TABLE "UsageQuarantine" (
    "orgId" TEXT NOT NULL,
    "machineId" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "seq" INTEGER NOT NULL,
    "digest" TEXT NOT NULL,
    "computedAt" TIMESTAMPTZ(3) NOT NULL,
    "receivedAt" TIMESTAMPTZ(3) NOT NULL,
    "releaseAt" TIMESTAMPTZ(3) NOT NULL,
    "buckets" INTEGER NOT NULL,
    "calls" BIGINT NOT NULL,
    "content" JSONB NOT NULL,

    CONSTRAINT "UsageQuarantine_pkey" PRIMARY KEY ("orgId","machineId","day")
);

-- CreateTable
CREATE TABLE "UsageUpload" (
    "orgId" TEXT NOT NULL,
    "machineId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "digest" TEXT NOT NULL,
    "receivedAt" TIMESTAMPTZ(3) NOT NULL,
    "answer" JSONB NOT NULL,

    CONSTRAINT "UsageUpload_pkey" PRIMARY KEY ("orgId","machineId","seq")
);

-- CreateTable
CREATE TABLE "FiguresGrant" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "holderId" TEXT NOT NULL,
    "subjectId" TEXT,
    "reason" TEXT NOT NULL,
    "grantedById" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "endedById" TEXT,

    CONSTRAINT "FiguresGrant_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "UsageSeries_orgId_machineId_client_provider_model_long_cove_key" ON "UsageSeries"("orgId", "machineId", "client", "provider", "model", "long", "covered", "rate", "tagsKey");

-- CreateIndex
CREATE INDEX "UsageDay_orgId_day_idx" ON "UsageDay"("orgId", "day");

-- CreateIndex
CREATE INDEX "UsageQuarantine_releaseAt_idx" ON "UsageQuarantine"("releaseAt");

-- CreateIndex
CREATE INDEX "FiguresGrant_orgId_holderId_idx" ON "FiguresGrant"("orgId", "holderId");

-- AddForeignKey
ALTER TABLE "UsageSeries" ADD CONSTRAINT "UsageSeries_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UsageDay" ADD CONSTRAINT "UsageDay_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UsageQuarantine" ADD CONSTRAINT "UsageQuarantine_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UsageUpload" ADD CONSTRAINT "UsageUpload_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "FiguresGrant" ADD CONSTRAINT "FiguresGrant_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "FiguresGrant" ADD CONSTRAINT "FiguresGrant_holderId_orgId_fkey" FOREIGN KEY ("holderId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "FiguresGrant" ADD CONSTRAINT "FiguresGrant_subjectId_orgId_fkey" FOREIGN KEY ("subjectId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;
