import type { Db } from '../db.ts'
import { budgetStepMail } from '../email/budget-step.ts'
import { budgetStopMail } from '../email/budget-stop.ts'
import { letter } from './mail-letter.ts'
import type { Jobs } from './queue.ts'
import { deliver } from './send-mail.ts'

/** Mails one of a budget's owners that a step was reached, as it stood when it was. */
export const mailBudgetStep = (db: Db, { to, messageId, told }: Jobs['budget.mail'], now: Date): Promise<void> =>
  deliver(db, letter(budgetStepMail(told), to, messageId), now)

/** Mails a member, or one of a budget's owners, that a call was stopped by it, as it was when it happened. */
export const mailBudgetStop = (db: Db, { to, messageId, told }: Jobs['budget.stop_mail'], now: Date): Promise<void> =>
  deliver(db, letter(budgetStopMail(told), to, messageId), now)
