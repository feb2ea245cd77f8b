/** Conditions and tags in words. */
import { ATTRIBUTION_CONDITIONS, type AttributionCondition } from '#core/rules/shape.ts'

export const CONDITION_NAMES: Readonly<Record<AttributionCondition, string>> = {
  repository: 'Repository',
  directory: 'Folder',
  machine: 'Machine',
  member: 'Member',
  environment: 'Environment',
}

export const CONDITION_HINTS: Readonly<Record<AttributionCondition, string>> = {
  repository: 'billing-api, acme/billing-api or github.com/acme/billing-api; * stands for anything.',
  directory: 'The whole path, ~/work/* for one below the home folder, or the folder’s own name.',
  machine: 'Its label.',
  member: 'Their name.',
  environment:
    'NAME=pattern, where a session was started. A machine tells only that it holds, never the value; names of secrets match nothing.',
}

/** `repository billing-*, machine build-*`. */
export const whenWords = (when: Readonly<Partial<Record<AttributionCondition, string>>>): string =>
  ATTRIBUTION_CONDITIONS.flatMap(condition =>
    when[condition] === undefined ? [] : `${CONDITION_NAMES[condition].toLowerCase()} ${when[condition]}`,
  ).join(', ')

export const keyName = (key: string): string => `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`
