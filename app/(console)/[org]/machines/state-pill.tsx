import { CloudOff, History, LogOut, ShieldOff, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Pill } from '#app/_ui/pill.tsx'
import type { MachineRow } from '../outputs.ts'
import { MACHINE_STATES } from './machine-words.ts'

const ICONS: Partial<Record<MachineRow['state'], ReactNode>> = {
  behind: <History aria-hidden />,
  silent: <CloudOff aria-hidden />,
  alarm: <TriangleAlert aria-hidden />,
  left: <LogOut aria-hidden />,
  revoked: <ShieldOff aria-hidden />,
}

export function MachineStatePill({ state }: { state: MachineRow['state'] }) {
  const { word, pill } = MACHINE_STATES[state]
  return (
    <Pill state={pill} icon={ICONS[state]}>
      {word}
    </Pill>
  )
}
