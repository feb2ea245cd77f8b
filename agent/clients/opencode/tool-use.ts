/** A call's id as the hook and the records share it. */
const ID = /^[A-Za-z0-9_-]{1,128}$/

/** opencode takes the provider's id as it is; some hold points and colons. */
export const toolUseIdOf = (id: string): string => (ID.test(id) ? id : id.slice(0, 128).replace(/[^A-Za-z0-9_-]/g, '_'))
