-- CreateTable
CREATE TABLE "ApiToken" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "start" TEXT NOT NULL,
    "scopes" TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "ApiToken_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "ApiToken_hash_key" ON "ApiToken"("hash");

-- CreateIndex
CREATE INDEX "ApiToken_orgId_idx" ON "ApiToken"("orgId");

-- CreateIndex
CREATE INDEX "ApiToken_memberId_idx" ON "ApiToken"("memberId");

-- AddForeignKey
ALTER TABLE "ApiToken" ADD CONSTRAINT "ApiToken_memberId_orgId_fkey" FOREIGN KEY ("memberId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Tokens for programs: what the database itself refuses of them. Each refusal names itself.
ALTER TABLE "ApiToken"
  ADD CONSTRAINT api_token_scopes CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['spend.read']),
  ADD CONSTRAINT api_token_lasts CHECK ("expiresAt" > "createdAt" AND "expiresAt" <= "createdAt" + interval '366 days'),
  ADD CONSTRAINT api_token_start CHECK (start ~ '^hpt_[a-z2-7]{4}$'),
  ADD CONSTRAINT api_token_name CHECK (length(name) BETWEEN 1 AND 80);
-- Whose it is and what it is for stay; once ended it stays so.
CREATE FUNCTION api_token_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW."orgId", NEW."memberId", NEW.hash, NEW.start, NEW.scopes, NEW."createdAt", NEW."expiresAt")
     IS DISTINCT FROM (OLD.id, OLD."orgId", OLD."memberId", OLD.hash, OLD.start, OLD.scopes, OLD."createdAt", OLD."expiresAt")
     OR (OLD."endedAt" IS NOT NULL AND NEW."endedAt" IS DISTINCT FROM OLD."endedAt") THEN
    RAISE EXCEPTION 'api_token_stays' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER api_token_stays BEFORE UPDATE ON "ApiToken" FOR EACH ROW EXECUTE FUNCTION api_token_stays();
