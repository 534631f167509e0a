// The user of this system who runs a command that changes documents, as events and log lines name it.

import { userInfo } from 'node:os'
import type { Actor } from '../../store/events.ts'
import type { Environment } from '../args.ts'

export type WhoRuns = { by: string | undefined; uid: number | undefined; sudo_user: string | undefined }

export function whoRuns(env: Environment): WhoRuns {
  return { by: userName(), uid: process.getuid?.(), sudo_user: env.SUDO_USER }
}

/** Who is written down as the one who acts. */
export function whoActs(env: Environment): Actor {
  return { via: 'cli', actor: actorOf(whoRuns(env)) }
}

/** The user as an event names it: `ana`, `root (sudo: ana)`, or `uid 1000` where it has no name. */
export function actorOf({ by, uid, sudo_user }: WhoRuns): string {
  const user = by ?? `uid ${uid}`
  return sudo_user === undefined ? user : `${user} (sudo: ${sudo_user})`
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined // a user id without a name, as containers have it
  }
}
