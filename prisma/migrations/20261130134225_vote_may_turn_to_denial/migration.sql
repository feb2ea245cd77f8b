-- DropIndex
DROP INDEX "ApprovalVote_orgId_handle_memberId_key";

-- CreateIndex
CREATE UNIQUE INDEX "ApprovalVote_orgId_handle_memberId_decision_key" ON "ApprovalVote"("orgId", "handle", "memberId", "decision");
