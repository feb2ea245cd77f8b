import { CircleOff, CirclePause, EyeOff, Lock, MessageSquare, Sigma, TriangleAlert, User } from 'lucide-react'
import type { ReactNode } from 'react'
import { Pill } from '#app/_ui/pill.tsx'
import { LEVEL_WORDS } from './level-words.ts'

const ICONS: Record<string, ReactNode> = {
  managed: <Lock aria-hidden />,
  'managed-hook-user-daemon': <Lock aria-hidden />,
  'user-hook': <User aria-hidden />,
  'advice-only': <MessageSquare aria-hidden />,
  idle: <CirclePause aria-hidden />,
  'figure-unread': <EyeOff aria-hidden />,
  broken: <TriangleAlert aria-hidden />,
  'figures-only': <Sigma aria-hidden />,
  'not-installed': <CircleOff aria-hidden />,
}

/** How far a client binds on a machine, as picture and word; a level that is not known stands by its own name. */
export function LevelPill({ level }: { level: string }) {
  const words = LEVEL_WORDS[level]
  return (
    <Pill state={words?.pill ?? 'neutral'} icon={ICONS[level]}>
      {words?.word ?? level}
    </Pill>
  )
}
