-- CreateEnum
CREATE TYPE "Role" AS ENUM ('auditor', 'member', 'lead', 'admin', 'owner');

-- CreateEnum
CREATE TYPE "SelfAnswer" AS ENUM ('never', 'account', 'key');

-- CreateEnum
CREATE TYPE "WhenBroken" AS ENUM ('pass', 'block');

-- CreateEnum
CREATE TYPE "SessionMethod" AS ENUM ('oidc', 'passkey', 'email_code', 'console', 'device_link', 'admin_credential');

-- CreateEnum
CREATE TYPE "ApprovalState" AS ENUM ('pending', 'approved', 'used', 'revoked', 'lapsed', 'denied', 'expired', 'withdrawn');

-- CreateEnum
CREATE TYPE "VoteDecision" AS ENUM ('approve', 'deny');

-- CreateEnum
CREATE TYPE "AnswerScope" AS ENUM ('step', 'session');

-- CreateEnum
CREATE TYPE "KeyRole" AS ENUM ('owner', 'ruleset', 'answer', 'fresh', 'ledger', 'registry');

-- CreateEnum
CREATE TYPE "TokenKind" AS ENUM ('machine', 'join', 'admin', 'deviceLink', 'console');

-- CreateTable
CREATE TABLE "Organisation" (
    "id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "demo" BOOLEAN NOT NULL DEFAULT false,
    "selfAnswer" "SelfAnswer" NOT NULL DEFAULT 'account',
    "whenBroken" "WhenBroken" NOT NULL DEFAULT 'pass',
    "maxAgeS" INTEGER NOT NULL DEFAULT 86400,
    "adminCredential" BOOLEAN NOT NULL DEFAULT true,
    "restoredAt" TIMESTAMPTZ(3),
    "highestReported" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Organisation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Member" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" "Role" NOT NULL,
    "joinedAt" TIMESTAMPTZ(3) NOT NULL,
    "removedAt" TIMESTAMPTZ(3),
    "invitedById" TEXT,
    "roleChangedBy" TEXT,
    "roleChangedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Member_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "EvidencePerson" (
    "memberId" TEXT NOT NULL,
    "salt" BYTEA NOT NULL,

    CONSTRAINT "EvidencePerson_pkey" PRIMARY KEY ("memberId")
);

-- CreateTable
CREATE TABLE "Session" (
    "id" TEXT NOT NULL,
    "tokenHash" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "method" "SessionMethod" NOT NULL,
    "authnAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "idpConnectionId" TEXT,
    "parentToken" TEXT,
    "demo" BOOLEAN NOT NULL DEFAULT false,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SignInAttempt" (
    "id" TEXT NOT NULL,
    "emailHash" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "browserNonceHash" TEXT NOT NULL,
    "codeHmac" TEXT NOT NULL,
    "linkHash" TEXT NOT NULL,
    "invitationId" TEXT,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "usedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "demo" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "SignInAttempt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OidcConnection" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "clientId" TEXT NOT NULL,
    "clientSecret" BYTEA NOT NULL,
    "domains" TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "removedAt" TIMESTAMPTZ(3),

    CONSTRAINT "OidcConnection_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OidcAccount" (
    "connectionId" TEXT NOT NULL,
    "iss" TEXT NOT NULL,
    "sub" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OidcAccount_pkey" PRIMARY KEY ("connectionId","iss","sub")
);

-- CreateTable
CREATE TABLE "Invitation" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" "Role" NOT NULL,
    "tokenHash" TEXT NOT NULL,
    "invitedById" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "acceptedAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Invitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Token" (
    "id" TEXT NOT NULL,
    "kind" "TokenKind" NOT NULL,
    "hash" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "machineId" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "usedAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),
    "authnAt" TIMESTAMPTZ(3),

    CONSTRAINT "Token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "AdminLogin" (
    "id" TEXT NOT NULL,
    "deviceCodeHash" TEXT NOT NULL,
    "userCode" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "confirmedAt" TIMESTAMPTZ(3),
    "deniedAt" TIMESTAMPTZ(3),
    "memberId" TEXT,
    "authnAt" TIMESTAMPTZ(3),
    "lastPollAt" TIMESTAMPTZ(3),
    "takenAt" TIMESTAMPTZ(3),

    CONSTRAINT "AdminLogin_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Machine" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "connector" TEXT NOT NULL,
    "publicKeyX" TEXT NOT NULL,
    "firstUsePin" BOOLEAN NOT NULL DEFAULT false,
    "joinedAt" TIMESTAMPTZ(3) NOT NULL,
    "lastSeenAt" TIMESTAMPTZ(3),
    "leftAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),
    "reportSeq" INTEGER NOT NULL DEFAULT 0,
    "reportDigest" TEXT,
    "reportAt" TIMESTAMPTZ(3),
    "rulesVersion" INTEGER NOT NULL DEFAULT 0,
    "rulesDigest" TEXT,
    "rootSeq" INTEGER NOT NULL DEFAULT 0,
    "rootDigest" TEXT,
    "freshAt" TIMESTAMPTZ(3),
    "lastError" TEXT,
    "lastErrorAt" TIMESTAMPTZ(3),
    "unsupported" TEXT[],
    "journalSeq" INTEGER NOT NULL DEFAULT 0,
    "journalHead" TEXT,
    "answerSeq" INTEGER NOT NULL DEFAULT 0,
    "clonedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Machine_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "MachineHook" (
    "machineId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "version" TEXT,
    "level" TEXT NOT NULL,
    "off" TEXT[],
    "changedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "MachineHook_pkey" PRIMARY KEY ("machineId","client")
);

-- CreateTable
CREATE TABLE "MachineAlarm" (
    "machineId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "what" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "MachineAlarm_pkey" PRIMARY KEY ("machineId","what","at")
);

-- CreateTable
CREATE TABLE "UnguardedCalls" (
    "machineId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "sessionRef" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "calls" INTEGER NOT NULL,

    CONSTRAINT "UnguardedCalls_pkey" PRIMARY KEY ("machineId","sessionRef","day")
);

-- CreateTable
CREATE TABLE "RuleOutcome" (
    "machineId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "rule" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "sessionRef" TEXT NOT NULL,
    "stage" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "did" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "figures" JSONB NOT NULL,

    CONSTRAINT "RuleOutcome_pkey" PRIMARY KEY ("machineId","handle","rule")
);

-- CreateTable
CREATE TABLE "HourlyCount" (
    "machineId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "client" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "sessionRef" TEXT NOT NULL,
    "calls" INTEGER NOT NULL,
    "figures" JSONB NOT NULL,

    CONSTRAINT "HourlyCount_pkey" PRIMARY KEY ("machineId","hour","client","action","sessionRef")
);

-- CreateTable
CREATE TABLE "Tenant" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "contactEmail" TEXT NOT NULL,

    CONSTRAINT "Tenant_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "RootDocument" (
    "orgId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "digest" TEXT NOT NULL,
    "envelope" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "RootDocument_pkey" PRIMARY KEY ("orgId","seq")
);

-- CreateTable
CREATE TABLE "OrganisationKey" (
    "kid" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "role" "KeyRole" NOT NULL,
    "publicKeyX" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "next" BOOLEAN NOT NULL DEFAULT false,
    "retiredAt" TIMESTAMPTZ(3),

    CONSTRAINT "OrganisationKey_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "RuleSetVersion" (
    "orgId" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "digest" TEXT NOT NULL,
    "jws" TEXT NOT NULL,
    "kid" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "note" TEXT NOT NULL,
    "publishedById" TEXT,
    "how" TEXT NOT NULL,
    "rolledBackTo" INTEGER,
    "publishedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "RuleSetVersion_pkey" PRIMARY KEY ("orgId","version")
);

-- CreateTable
CREATE TABLE "ApprovalRequest" (
    "orgId" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "machineId" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "sessionRef" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subjectKey" TEXT NOT NULL,
    "requestJws" TEXT NOT NULL,
    "request" JSONB NOT NULL,
    "digest" TEXT NOT NULL,
    "rules" JSONB NOT NULL,
    "role" "Role" NOT NULL,
    "approvals" INTEGER NOT NULL DEFAULT 1,
    "selfAnswer" "SelfAnswer" NOT NULL,
    "ruleVersion" INTEGER NOT NULL,
    "state" "ApprovalState" NOT NULL DEFAULT 'pending',
    "rowVersion" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "receivedAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "settledAt" TIMESTAMPTZ(3),
    "standsUntil" TIMESTAMPTZ(3),
    "withdrawnBy" TEXT,

    CONSTRAINT "ApprovalRequest_pkey" PRIMARY KEY ("orgId","handle")
);

-- CreateTable
CREATE TABLE "ApprovalVote" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,
    "role" "Role" NOT NULL,
    "method" "SessionMethod" NOT NULL,
    "how" TEXT NOT NULL,
    "authnAt" TIMESTAMPTZ(3) NOT NULL,
    "decision" "VoteDecision" NOT NULL,
    "scope" "AnswerScope" NOT NULL,
    "until" JSONB NOT NULL,
    "reason" TEXT NOT NULL,
    "self" BOOLEAN NOT NULL DEFAULT false,
    "demo" BOOLEAN NOT NULL DEFAULT false,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ApprovalVote_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ApprovalAnswer" (
    "orgId" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "answerId" TEXT NOT NULL,
    "machineId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "jws" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ApprovalAnswer_pkey" PRIMARY KEY ("orgId","handle")
);

-- CreateTable
CREATE TABLE "ApprovalNotice" (
    "machineId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "orgId" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "state" "ApprovalState" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ApprovalNotice_pkey" PRIMARY KEY ("machineId","seq")
);

-- CreateTable
CREATE TABLE "EvidenceEntry" (
    "orgId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,
    "leaf" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "receivedAt" TIMESTAMPTZ(3) NOT NULL,
    "actorRef" TEXT NOT NULL,
    "subjectRef" TEXT,

    CONSTRAINT "EvidenceEntry_pkey" PRIMARY KEY ("orgId","seq")
);

-- CreateTable
CREATE TABLE "Ledger" (
    "orgId" TEXT NOT NULL,
    "size" INTEGER NOT NULL DEFAULT 0,
    "head" TEXT NOT NULL DEFAULT '',
    "frontier" BYTEA NOT NULL,
    "root" TEXT NOT NULL,

    CONSTRAINT "Ledger_pkey" PRIMARY KEY ("orgId")
);

-- CreateTable
CREATE TABLE "DemoMail" (
    "id" TEXT NOT NULL,
    "to" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "html" TEXT NOT NULL,
    "headers" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "DemoMail_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "RateCount" (
    "key" TEXT NOT NULL,
    "windowAt" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "RateCount_pkey" PRIMARY KEY ("key","windowAt")
);

-- CreateIndex
CREATE UNIQUE INDEX "Organisation_slug_key" ON "Organisation"("slug");

-- CreateIndex
CREATE INDEX "Member_orgId_email_idx" ON "Member"("orgId", "email");

-- CreateIndex
CREATE UNIQUE INDEX "Member_id_orgId_key" ON "Member"("id", "orgId");

-- CreateIndex
CREATE UNIQUE INDEX "Session_tokenHash_key" ON "Session"("tokenHash");

-- CreateIndex
CREATE INDEX "Session_memberId_idx" ON "Session"("memberId");

-- CreateIndex
CREATE UNIQUE INDEX "SignInAttempt_linkHash_key" ON "SignInAttempt"("linkHash");

-- CreateIndex
CREATE INDEX "SignInAttempt_emailHash_createdAt_idx" ON "SignInAttempt"("emailHash", "createdAt");

-- CreateIndex
CREATE UNIQUE INDEX "OidcConnection_id_orgId_key" ON "OidcConnection"("id", "orgId");

-- CreateIndex
CREATE UNIQUE INDEX "Invitation_tokenHash_key" ON "Invitation"("tokenHash");

-- CreateIndex
CREATE INDEX "Invitation_orgId_email_idx" ON "Invitation"("orgId", "email");

-- CreateIndex
CREATE UNIQUE INDEX "Token_hash_key" ON "Token"("hash");

-- CreateIndex
CREATE INDEX "Token_orgId_kind_idx" ON "Token"("orgId", "kind");

-- CreateIndex
CREATE INDEX "Token_memberId_idx" ON "Token"("memberId");

-- CreateIndex
CREATE UNIQUE INDEX "AdminLogin_deviceCodeHash_key" ON "AdminLogin"("deviceCodeHash");

-- CreateIndex
CREATE UNIQUE INDEX "AdminLogin_userCode_key" ON "AdminLogin"("userCode");

-- CreateIndex
CREATE INDEX "Machine_orgId_lastSeenAt_idx" ON "Machine"("orgId", "lastSeenAt");

-- CreateIndex
CREATE UNIQUE INDEX "Machine_id_orgId_key" ON "Machine"("id", "orgId");

-- CreateIndex
CREATE INDEX "RuleOutcome_orgId_rule_at_idx" ON "RuleOutcome"("orgId", "rule", "at");

-- CreateIndex
CREATE INDEX "HourlyCount_orgId_hour_idx" ON "HourlyCount"("orgId", "hour");

-- CreateIndex
CREATE UNIQUE INDEX "Tenant_orgId_key_key" ON "Tenant"("orgId", "key");

-- CreateIndex
CREATE INDEX "OrganisationKey_orgId_role_idx" ON "OrganisationKey"("orgId", "role");

-- CreateIndex
CREATE UNIQUE INDEX "ApprovalRequest_digest_key" ON "ApprovalRequest"("digest");

-- CreateIndex
CREATE INDEX "ApprovalRequest_orgId_state_createdAt_idx" ON "ApprovalRequest"("orgId", "state", "createdAt");

-- CreateIndex
CREATE INDEX "ApprovalRequest_machineId_state_idx" ON "ApprovalRequest"("machineId", "state");

-- CreateIndex
CREATE UNIQUE INDEX "ApprovalVote_orgId_handle_memberId_decision_key" ON "ApprovalVote"("orgId", "handle", "memberId", "decision");

-- CreateIndex
CREATE UNIQUE INDEX "ApprovalAnswer_answerId_key" ON "ApprovalAnswer"("answerId");

-- CreateIndex
CREATE UNIQUE INDEX "ApprovalAnswer_machineId_seq_key" ON "ApprovalAnswer"("machineId", "seq");

-- CreateIndex
CREATE INDEX "EvidenceEntry_orgId_kind_seq_idx" ON "EvidenceEntry"("orgId", "kind", "seq");

-- CreateIndex
CREATE INDEX "EvidenceEntry_orgId_subjectRef_idx" ON "EvidenceEntry"("orgId", "subjectRef");

-- CreateIndex
CREATE INDEX "DemoMail_at_idx" ON "DemoMail"("at");

-- AddForeignKey
ALTER TABLE "Member" ADD CONSTRAINT "Member_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_memberId_orgId_fkey" FOREIGN KEY ("memberId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OidcConnection" ADD CONSTRAINT "OidcConnection_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OidcAccount" ADD CONSTRAINT "OidcAccount_connectionId_orgId_fkey" FOREIGN KEY ("connectionId", "orgId") REFERENCES "OidcConnection"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OidcAccount" ADD CONSTRAINT "OidcAccount_memberId_orgId_fkey" FOREIGN KEY ("memberId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Token" ADD CONSTRAINT "Token_memberId_orgId_fkey" FOREIGN KEY ("memberId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Token" ADD CONSTRAINT "Token_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Machine" ADD CONSTRAINT "Machine_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Machine" ADD CONSTRAINT "Machine_memberId_orgId_fkey" FOREIGN KEY ("memberId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MachineHook" ADD CONSTRAINT "MachineHook_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MachineAlarm" ADD CONSTRAINT "MachineAlarm_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UnguardedCalls" ADD CONSTRAINT "UnguardedCalls_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "RuleOutcome" ADD CONSTRAINT "RuleOutcome_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "HourlyCount" ADD CONSTRAINT "HourlyCount_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Tenant" ADD CONSTRAINT "Tenant_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "RootDocument" ADD CONSTRAINT "RootDocument_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganisationKey" ADD CONSTRAINT "OrganisationKey_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "RuleSetVersion" ADD CONSTRAINT "RuleSetVersion_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApprovalRequest" ADD CONSTRAINT "ApprovalRequest_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApprovalRequest" ADD CONSTRAINT "ApprovalRequest_machineId_orgId_fkey" FOREIGN KEY ("machineId", "orgId") REFERENCES "Machine"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApprovalRequest" ADD CONSTRAINT "ApprovalRequest_memberId_orgId_fkey" FOREIGN KEY ("memberId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApprovalVote" ADD CONSTRAINT "ApprovalVote_orgId_handle_fkey" FOREIGN KEY ("orgId", "handle") REFERENCES "ApprovalRequest"("orgId", "handle") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApprovalVote" ADD CONSTRAINT "ApprovalVote_memberId_orgId_fkey" FOREIGN KEY ("memberId", "orgId") REFERENCES "Member"("id", "orgId") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApprovalAnswer" ADD CONSTRAINT "ApprovalAnswer_orgId_handle_fkey" FOREIGN KEY ("orgId", "handle") REFERENCES "ApprovalRequest"("orgId", "handle") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Ledger" ADD CONSTRAINT "Ledger_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organisation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
