// User who runs a command that changes documents, as events and log lines name it.

import { userInfo } from 'node:os'
import type { Actor } from '../../store/documents/events.ts'
import type { Environment } from '../parse/args.ts'

export type CurrentUser = { by: string | undefined; uid: number | undefined; sudo_user: string | undefined }

export function currentUser(env: Environment): CurrentUser {
  return { by: userName(), uid: process.getuid?.(), sudo_user: env.SUDO_USER }
}

/** Returns the actor that events store. */
export function cliActor(env: Environment): Actor {
  return { via: 'cli', actor: actorName(currentUser(env)) }
}

/** Returns the user's name in events: `ana`, `root (sudo: ana)`, or `uid 1000` for a user without a name. */
export function actorName({ by, uid, sudo_user }: CurrentUser): string {
  const user = by ?? `uid ${uid}`
  return sudo_user === undefined ? user : `${user} (sudo: ${sudo_user})`
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined // user ids of containers may have no name
  }
}
