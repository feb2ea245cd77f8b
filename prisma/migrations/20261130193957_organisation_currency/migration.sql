-- AlterTable
ALTER TABLE "Organisation" ADD COLUMN     "currency" TEXT NOT NULL DEFAULT 'USD';

ALTER TABLE "Organisation" ADD CONSTRAINT organisation_currency CHECK ("currency" ~ '^[A-Z]{3}$');
