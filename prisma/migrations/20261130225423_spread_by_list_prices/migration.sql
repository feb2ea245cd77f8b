-- A difference, and what is nobody's own, can be spread in proportion to use at list prices, whatever covers it.
ALTER TABLE "AllocationRule"
  DROP CONSTRAINT allocation_kind,
  ADD CONSTRAINT allocation_kind CHECK (kind IN ('none', 'proportional', 'equivalent', 'even', 'fixed'));
ALTER TABLE "InvoiceSpread"
  DROP CONSTRAINT invoice_spread_kind,
  ADD CONSTRAINT invoice_spread_kind CHECK (kind IN ('proportional', 'equivalent', 'even', 'fixed'));
