-- CreateTable
CREATE TABLE "UsageMark" (
    "orgId" TEXT NOT NULL,
    "zone" TEXT NOT NULL,
    "month" DATE NOT NULL,
    "made" BIGINT NOT NULL,

    CONSTRAINT "UsageMark_pkey" PRIMARY KEY ("orgId","zone","month")
);
