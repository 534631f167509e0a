// Signs out. Positions of exchange differences are removed, after a question if there are any.

import { hasPositions } from '../api/session.ts'
import { signOut } from '../api/sign-in.ts'

export async function leave(): Promise<void> {
  if (hasPositions() && !(await confirmRemoval())) return
  await signOut()
}

async function confirmRemoval(): Promise<boolean> {
  try {
    const { confirmLeave } = await import('./leave-question.tsx')
    return await confirmLeave()
  } catch {
    return true // without a connection signing out is still possible
  }
}
