-- AlterTable
ALTER TABLE "MachineHook" ADD COLUMN     "countedOn" TEXT,
ADD COLUMN     "lossToldAt" TIMESTAMPTZ(3),
ADD COLUMN     "rules" JSONB NOT NULL DEFAULT '[]';

-- What machines have told so far is what their owners count on.
UPDATE "MachineHook" SET "countedOn" = "level" WHERE "level" IN ('managed', 'managed-hook-user-daemon', 'user-hook');
