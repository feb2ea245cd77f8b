import { type LadderRole, type Role, roleAtLeast } from '#core/role.ts'
import type { Rule, SelfAnswer } from './shape.ts'

/** A member as the question "who could answer?" sees them; `machines`: how many of theirs are joined. */
export type Person = { id: string; role: Role; machines: number }

/** Who holds a role, or a higher one. */
export const holdersOf = <P extends Pick<Person, 'role'>>(role: LadderRole, people: readonly P[]): P[] =>
  people.filter(person => roleAtLeast(person.role, role))

/** `nobody_can_answer`: no request of the rule ever could be; `only_the_requester`: some person's could not, or by themselves alone. */
export type AnswerProblem = {
  problem: 'nobody_can_answer' | 'only_the_requester'
  message: string
  remedy: string
}

/** Whether a rule's requests could ever be answered: the role's holders against the number it wants. */
export function whoAnswers(
  rule: Pick<Rule, 'name' | 'require' | 'approvals' | 'signed' | 'self'>,
  people: readonly Person[],
  organisation: SelfAnswer,
): AnswerProblem | undefined {
  if (rule.require.kind !== 'approver') return undefined
  const { role } = rule.require
  const wanted = rule.approvals ?? 1
  const holders = holdersOf(role, people)
  if (rule.signed) {
    return {
      problem: 'nobody_can_answer',
      message: `${rule.name} wants an approver's own key, and there is no way to register one yet`,
      remedy: 'leave signed out',
    }
  }
  if (holders.length < wanted) {
    const have = holders.length === 0 ? 'nobody holds it' : `${holders.length} of the ${wanted} people it wants hold it`
    return {
      problem: 'nobody_can_answer',
      message: `${rule.name} asks for ${role} or above, and ${have}`,
      remedy: 'name a lower role, ask for fewer approvals, or invite somebody',
    }
  }
  // A requester never counts toward several, and alone only where the rule and the organisation let people answer their own.
  const self = rule.self ?? organisation
  const stuck = people.filter(
    person => person.machines > 0 && holders.filter(holder => holder.id !== person.id).length < wanted,
  )
  if (stuck.length === 0) return undefined
  const own =
    wanted === 1 && self === 'account' && stuck.every(person => holders.some(holder => holder.id === person.id))
  const message = own
    ? `for ${rule.name}, a person with a machine is the only one who can answer: their own requests wait for themselves`
    : `for ${rule.name}, a person with a machine is among the only ones who could answer, and may not answer their own requests`
  return { problem: 'only_the_requester', message, remedy: `give ${role} or above to somebody else too` }
}
