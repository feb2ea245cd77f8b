-- AlterTable
ALTER TABLE "Machine" ADD COLUMN     "reportAt" TIMESTAMPTZ(3),
ADD COLUMN     "reportDigest" TEXT;
