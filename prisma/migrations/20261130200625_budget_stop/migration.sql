-- CreateTable
CREATE TABLE "BudgetStop" (
    "orgId" TEXT NOT NULL,
    "budget" TEXT NOT NULL,
    "windowId" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "windowStart" TIMESTAMPTZ(3) NOT NULL,
    "windowEnd" TIMESTAMPTZ(3) NOT NULL,
    "machineId" TEXT NOT NULL,
    "rule" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "did" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "usedPct" TEXT,

    CONSTRAINT "BudgetStop_pkey" PRIMARY KEY ("orgId","budget","windowId","memberId")
);

-- CreateIndex
CREATE INDEX "BudgetStop_windowEnd_idx" ON "BudgetStop"("windowEnd");

-- AddForeignKey
ALTER TABLE "BudgetStop" ADD CONSTRAINT "BudgetStop_memberId_orgId_fkey" FOREIGN KEY ("memberId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "BudgetStop" ADD CONSTRAINT budget_stop_did CHECK ("did" IN ('asked', 'refused'));
