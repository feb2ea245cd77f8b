/** As far as a budget's boundary can stop a client's call, by the level its hook has. A level that nobody knows holds nothing. */
const REACH = [
  {
    title: 'Enforced at hooks',
    help: 'a boundary that reads a budget stops the call',
    levels: ['managed', 'managed-hook-user-daemon', 'user-hook'],
  },
  { title: 'Advisory', help: 'the agent is told, and can go on', levels: ['advice-only'] },
]
const NOT_HELD = { title: 'Not held', help: 'what is spent counts where it is reported, and no budget stops it' }

/** Clients by how far a budget holds them, the most first; what nobody has is left out. */
export function byReach<C extends { level: string }>(
  clients: readonly C[],
): { title: string; help: string; clients: C[] }[] {
  const known = REACH.flatMap(({ levels }) => levels)
  return [
    ...REACH.map(({ title, help, levels }) => ({
      title,
      help,
      clients: clients.filter(({ level }) => levels.includes(level)),
    })),
    { ...NOT_HELD, clients: clients.filter(({ level }) => !known.includes(level)) },
  ].filter(group => group.clients.length > 0)
}
