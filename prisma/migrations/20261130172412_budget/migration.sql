-- CreateTable
CREATE TABLE "BudgetCut" (
    "orgId" TEXT NOT NULL,
    "budget" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "windowId" TEXT NOT NULL,
    "windowStart" TIMESTAMPTZ(3) NOT NULL,
    "windowEnd" TIMESTAMPTZ(3) NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "used" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "BudgetCut_pkey" PRIMARY KEY ("orgId","budget","value","windowId")
);

-- CreateTable
CREATE TABLE "BudgetCount" (
    "orgId" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "ruleVersion" INTEGER NOT NULL,

    CONSTRAINT "BudgetCount_pkey" PRIMARY KEY ("orgId")
);

-- CreateTable
CREATE TABLE "BudgetShare" (
    "orgId" TEXT NOT NULL,
    "machineId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "shares" JSONB NOT NULL,

    CONSTRAINT "BudgetShare_pkey" PRIMARY KEY ("orgId","machineId")
);

-- CreateTable
CREATE TABLE "BudgetStep" (
    "orgId" TEXT NOT NULL,
    "budget" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "windowId" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "reachedAt" TIMESTAMPTZ(3) NOT NULL,
    "used" DECIMAL(38,12) NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "BudgetStep_pkey" PRIMARY KEY ("orgId","budget","value","windowId","step")
);

-- CreateTable
CREATE TABLE "ReservationHead" (
    "orgId" TEXT NOT NULL,
    "budget" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "ReservationHead_pkey" PRIMARY KEY ("orgId","budget","value")
);

-- CreateTable
CREATE TABLE "Reservation" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "budget" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "windowId" TEXT NOT NULL,
    "machineId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,
    "leaseUntil" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL,
    "settledAmount" DECIMAL(38,12),
    "settledKey" TEXT,
    "settledAt" TIMESTAMPTZ(3),
    "settledSeq" INTEGER,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Reservation_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "BudgetCut_orgId_windowEnd_idx" ON "BudgetCut"("orgId", "windowEnd");

-- CreateIndex
CREATE INDEX "Reservation_orgId_budget_value_state_leaseUntil_idx" ON "Reservation"("orgId", "budget", "value", "state", "leaseUntil");

-- CreateIndex
CREATE UNIQUE INDEX "Reservation_orgId_machineId_key_key" ON "Reservation"("orgId", "machineId", "key");

-- AddForeignKey
ALTER TABLE "Reservation" ADD CONSTRAINT "Reservation_orgId_budget_value_fkey" FOREIGN KEY ("orgId", "budget", "value") REFERENCES "ReservationHead"("orgId", "budget", "value") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Reservation" ADD CONSTRAINT "Reservation_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;
