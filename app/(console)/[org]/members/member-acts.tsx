'use client'

import { useMutation } from '@tanstack/react-query'
import { Ellipsis, LaptopMinimal, LogOut, UserMinus, UserPen } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useEffect, useRef, useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { Menu, MenuItem, MenuSeparator } from '#app/_ui/menu.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import type { MemberRow, Reader } from '../outputs.ts'
import { SignInAgain } from '../sign-in-again.tsx'
import { withRemedy } from '../with-remedy.ts'
import { mayGive } from './offered-roles.ts'
import { RoleDialog } from './role-dialog.tsx'

type Act = 'role' | 'sign_out' | 'lost' | 'remove'

/** What may be done to one member, as a menu; nothing for those who may do nothing. */
export function MemberActs({ org, member, reader }: { org: string; member: MemberRow; reader: Reader }) {
  const router = useRouter()
  const trpc = useTRPC()
  const [act, setAct] = useState<Act>()
  const button = useRef<HTMLButtonElement>(null)
  const asked = useRef(false)
  // The menu item that opened a dialog is gone when it closes, so the focus goes back to the menu's button by hand.
  useEffect(() => {
    if (act) asked.current = true
    if (act || !asked.current) return
    asked.current = false
    const timer = setTimeout(() => button.current?.focus())
    return () => clearTimeout(timer)
  }, [act])
  const after = { onSuccess: () => router.refresh() }
  const changeRole = useMutation(trpc.member.changeRole.mutationOptions(after))
  const signOut = useMutation(trpc.member.signOutEverywhere.mutationOptions(after))
  const lost = useMutation(trpc.machine.lost.mutationOptions(after))
  const remove = useMutation(trpc.member.remove.mutationOptions(after))
  const { id, name, self } = member
  const below = mayGive(reader.role, member.role)
  const mayRole = reader.rights.includes('member.change_role') && below
  const maySignOut = self ? reader.ownSignIn : reader.rights.includes('member.sign_out') && below
  const mayLost = self ? reader.ownSignIn : reader.rights.includes('laptop.lost')
  const mayRemove = reader.rights.includes('member.remove') && below
  if (!mayRole && !maySignOut && !mayLost && !mayRemove) return null
  const onOpenChange = (open: boolean) => !open && setAct(undefined)
  const their = self ? 'your' : 'their'
  return (
    <>
      <Menu
        label={`What to do with ${name}`}
        trigger={
          <IconButton
            ref={button}
            label={`More about ${name}`}
            icon={<Ellipsis aria-hidden />}
            size="sm"
            tooltip={false}
          />
        }
      >
        {mayRole && (
          <MenuItem icon={<UserPen aria-hidden />} onSelect={() => setAct('role')}>
            Change role…
          </MenuItem>
        )}
        {maySignOut && (
          <MenuItem icon={<LogOut aria-hidden />} onSelect={() => setAct('sign_out')}>
            Sign out everywhere…
          </MenuItem>
        )}
        {mayLost && (
          <MenuItem icon={<LaptopMinimal aria-hidden />} onSelect={() => setAct('lost')}>
            Laptop lost…
          </MenuItem>
        )}
        {mayRemove && (
          <>
            <MenuSeparator />
            <MenuItem icon={<UserMinus aria-hidden />} danger onSelect={() => setAct('remove')}>
              Remove…
            </MenuItem>
          </>
        )}
      </Menu>
      {act === 'role' && (
        <RoleDialog
          member={member}
          ownRole={reader.role}
          tooOld={reader.tooOld}
          onOpenChange={onOpenChange}
          onChange={async role => {
            await withRemedy(changeRole.mutateAsync({ org, id, role }))
            toast(`${self ? 'You are' : `${name} is`} ${role} now`)
          }}
        />
      )}
      {act === 'sign_out' && (
        <ConfirmDialog
          open
          onOpenChange={onOpenChange}
          title={self ? 'Sign yourself out everywhere?' : `Sign ${name} out everywhere?`}
          description={`Every browser session of ${self ? 'yours, this one too' : 'theirs'}, every look-only link and every credential of the command ends at once. Machines keep working, and signing in again is possible at once.`}
          confirmLabel="Sign out everywhere"
          onConfirm={async () => {
            const { sessions } = await withRemedy(signOut.mutateAsync({ org, id }))
            toast(`${self ? 'You are' : `${name} is`} signed out everywhere`, {
              description: `${formatPlural(sessions, 'session')} ended.`,
            })
          }}
        />
      )}
      {act === 'lost' && (
        <ConfirmDialog
          open
          onOpenChange={onOpenChange}
          title={self ? 'You lost your laptop?' : `${name} lost a laptop?`}
          description="One act ends everything that a finder could use. It cannot be undone, but what it takes is soon made anew."
          confirmLabel="End all of it now"
          typedWord={member.email}
          onConfirm={async () => {
            const ended = await withRemedy(lost.mutateAsync({ org, memberId: id }))
            toast(`What a finder could use has ended`, {
              description: `${formatPlural(ended.machines, 'machine')}, ${formatPlural(ended.sessions, 'session')} and ${formatPlural(ended.tokens, 'credential')}.`,
            })
          }}
        >
          <ul className="grid list-disc gap-1 pl-5 text-ink-2 marker:text-ink-3">
            <li>
              {member.machines === 0
                ? 'No machine is enrolled; one that is being enrolled is stopped.'
                : `${member.machines === 1 ? 'The one machine' : `All ${member.machines} machines`} of ${self ? 'yours' : name} ${member.machines === 1 ? 'is' : 'are'} revoked. A replacement joins anew.`}
            </li>
            <li>
              All browser sessions{self && ', this one too,'}, look-only links and credentials of the command end.
            </li>
            <li>Sign-ins under way are stopped: a code in {their} mail works no more.</li>
            <li>Requests that wait are withdrawn, and what was let through ends.</li>
            <li>{self ? 'You stay' : `${name} stays`} a member and can sign in anew with the same address.</li>
          </ul>
        </ConfirmDialog>
      )}
      {act === 'remove' && (
        <ConfirmDialog
          open
          onOpenChange={onOpenChange}
          title={self ? 'Leave this organisation?' : `Remove ${name}?`}
          description={`${their[0]!.toUpperCase()}${their.slice(1)} sessions, credentials and machines end at once, and requests that wait are withdrawn. What the record says stays. To come back takes a new invitation.`}
          confirmLabel={self ? 'Leave' : `Remove ${name}`}
          typedWord={member.email}
          onConfirm={async () => {
            await withRemedy(remove.mutateAsync({ org, id }))
            toast(`${name} is removed`)
          }}
        >
          {reader.tooOld && member.role === 'owner' && (
            <SignInAgain tooOld={reader.tooOld}>Removing an owner asks who you are once more.</SignInAgain>
          )}
        </ConfirmDialog>
      )}
    </>
  )
}
