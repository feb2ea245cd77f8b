-- AlterTable
ALTER TABLE "DemoMail" ADD COLUMN     "files" JSONB NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "Tenant" ALTER COLUMN "contactEmail" DROP NOT NULL;

-- CreateTable
CREATE TABLE "StatementSetting" (
    "orgId" TEXT NOT NULL,
    "basis" TEXT NOT NULL,
    "firstMonth" TEXT,

    CONSTRAINT "StatementSetting_pkey" PRIMARY KEY ("orgId")
);

-- CreateTable
CREATE TABLE "AllocationRule" (
    "orgId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "shares" JSONB NOT NULL,

    CONSTRAINT "AllocationRule_pkey" PRIMARY KEY ("orgId","key","value")
);

-- CreateTable
CREATE TABLE "StatementMonth" (
    "orgId" TEXT NOT NULL,
    "month" TEXT NOT NULL,
    "zone" TEXT NOT NULL,
    "startAt" TIMESTAMPTZ(3) NOT NULL,
    "endAt" TIMESTAMPTZ(3) NOT NULL,
    "basis" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "rules" JSONB NOT NULL,
    "tenants" TEXT[],

    CONSTRAINT "StatementMonth_pkey" PRIMARY KEY ("orgId","month")
);

-- CreateTable
CREATE TABLE "Statement" (
    "orgId" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "month" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "digest" TEXT NOT NULL,
    "total" DECIMAL(38,12) NOT NULL,
    "carried" DECIMAL(38,12) NOT NULL,
    "currency" TEXT NOT NULL,
    "closedAt" TIMESTAMPTZ(3) NOT NULL,
    "closedById" TEXT NOT NULL,
    "evidenceSeq" INTEGER NOT NULL,

    CONSTRAINT "Statement_pkey" PRIMARY KEY ("orgId","tenant","month")
);

-- CreateTable
CREATE TABLE "StatementMail" (
    "orgId" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "month" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "to" TEXT NOT NULL,
    "queuedAt" TIMESTAMPTZ(3) NOT NULL,
    "byId" TEXT NOT NULL,

    CONSTRAINT "StatementMail_pkey" PRIMARY KEY ("orgId","tenant","month","number")
);

-- AddForeignKey
ALTER TABLE "Statement" ADD CONSTRAINT "Statement_orgId_month_fkey" FOREIGN KEY ("orgId", "month") REFERENCES "StatementMonth"("orgId", "month") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StatementMail" ADD CONSTRAINT "StatementMail_orgId_tenant_month_fkey" FOREIGN KEY ("orgId", "tenant", "month") REFERENCES "Statement"("orgId", "tenant", "month") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Statements: what the database itself refuses of them. Each refusal names itself.
ALTER TABLE "StatementSetting"
  ADD CONSTRAINT statement_setting_basis CHECK (basis IN ('equivalent', 'billed')),
  ADD CONSTRAINT statement_setting_month CHECK ("firstMonth" ~ '^\d{4}-(0[1-9]|1[0-2])$');
ALTER TABLE "AllocationRule"
  ADD CONSTRAINT allocation_kind CHECK (kind IN ('none', 'proportional', 'even', 'fixed')),
  ADD CONSTRAINT allocation_shares CHECK (jsonb_typeof(shares) = 'object' AND (kind = 'fixed') = (shares <> '{}')),
  ADD CONSTRAINT allocation_of CHECK ((key = '' AND value = '') OR (key ~ '^[a-z][a-z0-9_-]{0,31}$' AND value ~ '^[a-z0-9][a-z0-9._-]{0,62}$'));
ALTER TABLE "StatementMonth"
  ADD CONSTRAINT statement_month_shape CHECK (month ~ '^\d{4}-(0[1-9]|1[0-2])$'),
  ADD CONSTRAINT statement_month_lasts CHECK ("endAt" > "startAt"),
  ADD CONSTRAINT statement_month_basis CHECK (basis IN ('equivalent', 'billed')),
  ADD CONSTRAINT statement_month_currency CHECK (currency ~ '^[A-Z]{3}$');
-- A credit is carried, so a total is never below nothing; one of the two is nothing.
ALTER TABLE "Statement"
  ADD CONSTRAINT statement_amounts CHECK (total >= 0 AND carried >= 0 AND (total = 0 OR carried = 0)),
  ADD CONSTRAINT statement_digest CHECK (digest ~ '^[A-Za-z0-9_-]{43}$'),
  -- The digest is of the very bytes, made anew by the database.
  ADD CONSTRAINT statement_digest_fits CHECK (digest = rtrim(translate(encode(sha256(convert_to(E'holdpoint/statement/v1\n', 'UTF8') || bytes), 'base64'), '+/', '-_'), '=')),
  ADD CONSTRAINT statement_tenant CHECK (tenant ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  ADD CONSTRAINT statement_evidence CHECK ("evidenceSeq" > 0);
ALTER TABLE "StatementMail" ADD CONSTRAINT statement_mail_number CHECK (number > 0);
-- What was billed stays as it was billed.
CREATE FUNCTION statement_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'statement_stays' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER statement_stays BEFORE UPDATE OR DELETE ON "Statement" FOR EACH ROW EXECUTE FUNCTION statement_stays();
CREATE TRIGGER statement_not_truncated BEFORE TRUNCATE ON "Statement" FOR EACH STATEMENT EXECUTE FUNCTION statement_stays();
CREATE TRIGGER statement_month_stays BEFORE UPDATE OR DELETE ON "StatementMonth" FOR EACH ROW EXECUTE FUNCTION statement_stays();
CREATE TRIGGER statement_mail_stays BEFORE UPDATE OR DELETE ON "StatementMail" FOR EACH ROW EXECUTE FUNCTION statement_stays();
