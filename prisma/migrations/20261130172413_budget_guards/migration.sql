-- Budgets: what the database itself refuses of them. Each refusal names itself.
ALTER TABLE "BudgetCut"
  ADD CONSTRAINT budget_cut_window CHECK ("windowEnd" > "windowStart"),
  ADD CONSTRAINT budget_cut_used CHECK (used >= 0);
ALTER TABLE "BudgetStep"
  ADD CONSTRAINT budget_step_figures CHECK (step BETWEEN 1 AND 1000 AND used >= 0 AND amount >= 0);
-- What was told stays told.
CREATE FUNCTION budget_step_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'budget_step_stays' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER budget_step_stays BEFORE UPDATE OR DELETE ON "BudgetStep" FOR EACH ROW EXECUTE FUNCTION budget_step_stays();

ALTER TABLE "Reservation"
  ADD CONSTRAINT reservation_state CHECK (state IN ('live', 'settled', 'released')),
  ADD CONSTRAINT reservation_amount CHECK (amount > 0 AND "settledAmount" >= 0),
  ADD CONSTRAINT reservation_key CHECK (key ~ '^[A-Za-z0-9_-]{8,64}$'),
  ADD CONSTRAINT reservation_lease CHECK ("leaseUntil" > "createdAt" AND "leaseUntil" <= "createdAt" + interval '1 day'),
  ADD CONSTRAINT reservation_settled CHECK (
    (state = 'settled') = ("settledAmount" IS NOT NULL AND "settledKey" IS NOT NULL AND "settledAt" IS NOT NULL AND "settledSeq" IS NOT NULL));
-- One end each: what was settled or released is never anything else again.
CREATE FUNCTION reservation_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state <> 'live' OR (NEW.id, NEW."orgId", NEW.budget, NEW.value, NEW."machineId", NEW.key, NEW.amount, NEW."createdAt")
     IS DISTINCT FROM (OLD.id, OLD."orgId", OLD.budget, OLD.value, OLD."machineId", OLD.key, OLD.amount, OLD."createdAt") THEN
    RAISE EXCEPTION 'reservation_ends_once' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER reservation_ends_once BEFORE UPDATE ON "Reservation" FOR EACH ROW EXECUTE FUNCTION reservation_ends_once();
