import type { Db } from '../db.ts'
import { budgetStepMail } from '../email/budget-step.ts'
import { letter } from './mail-letter.ts'
import type { Jobs } from './queue.ts'
import { deliver } from './send-mail.ts'

/** Mails one of a budget's owners that a step was reached, as it stood when it was. */
export const mailBudgetStep = (db: Db, { to, messageId, told }: Jobs['budget.mail'], now: Date): Promise<void> =>
  deliver(db, letter(budgetStepMail(told), to, messageId), now)
