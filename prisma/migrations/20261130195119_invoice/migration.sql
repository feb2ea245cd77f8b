-- CreateTable
CREATE TABLE "Invoice" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "month" TEXT NOT NULL,
    "number" TEXT,
    "currency" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "lineCount" INTEGER NOT NULL,
    "total" DECIMAL(38,12) NOT NULL,
    "importedAt" TIMESTAMPTZ(3) NOT NULL,
    "importedById" TEXT NOT NULL,

    CONSTRAINT "Invoice_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "InvoiceLine" (
    "orgId" TEXT NOT NULL,
    "invoiceId" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "day" DATE,
    "model" TEXT,
    "description" TEXT,
    "amount" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "InvoiceLine_pkey" PRIMARY KEY ("invoiceId","number")
);

-- CreateTable
CREATE TABLE "InvoiceSpread" (
    "invoiceId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "shares" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "byId" TEXT NOT NULL,

    CONSTRAINT "InvoiceSpread_pkey" PRIMARY KEY ("invoiceId","orgId")
);

-- CreateIndex
CREATE UNIQUE INDEX "Invoice_id_orgId_key" ON "Invoice"("id", "orgId");

-- CreateIndex
CREATE UNIQUE INDEX "Invoice_orgId_provider_month_key" ON "Invoice"("orgId", "provider", "month");

-- CreateIndex
CREATE INDEX "InvoiceSpread_orgId_idx" ON "InvoiceSpread"("orgId");

-- AddForeignKey
ALTER TABLE "InvoiceLine" ADD CONSTRAINT "InvoiceLine_invoiceId_orgId_fkey" FOREIGN KEY ("invoiceId", "orgId") REFERENCES "Invoice"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "InvoiceSpread" ADD CONSTRAINT "InvoiceSpread_invoiceId_orgId_fkey" FOREIGN KEY ("invoiceId", "orgId") REFERENCES "Invoice"("id", "orgId") ON DELETE CASCADE ON UPDATE CASCADE;

-- Invoices: what the database itself refuses of them. Each refusal names itself.
ALTER TABLE "Invoice"
  ADD CONSTRAINT invoice_month CHECK (month ~ '^\d{4}-(0[1-9]|1[0-2])$'),
  ADD CONSTRAINT invoice_currency CHECK (currency ~ '^[A-Z]{3}$'),
  ADD CONSTRAINT invoice_source CHECK (source IN ('anthropic', 'openai', 'csv', 'hand')),
  ADD CONSTRAINT invoice_digest CHECK (digest ~ '^[A-Za-z0-9_-]{43}$'),
  ADD CONSTRAINT invoice_lines CHECK ("lineCount" BETWEEN 1 AND 50000),
  ADD CONSTRAINT invoice_provider CHECK (provider IN ('anthropic', 'openai', 'google', 'x-ai', 'deepseek', 'mistral', 'moonshotai', 'zai', 'minimax', 'other'));
ALTER TABLE "InvoiceLine"
  ADD CONSTRAINT invoice_line_number CHECK (number > 0),
  ADD CONSTRAINT invoice_line_words CHECK (length(model) <= 100 AND length(description) <= 100);
ALTER TABLE "InvoiceSpread"
  ADD CONSTRAINT invoice_spread_kind CHECK (kind IN ('proportional', 'even', 'fixed')),
  ADD CONSTRAINT invoice_spread_shares CHECK (jsonb_typeof(shares) = 'object' AND (kind = 'fixed') = (shares <> '{}'));
