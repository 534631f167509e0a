// The addresses that were asked before, and which kept answer each stands for: a client that asks the same again is answered
// before its parameters are read, which is a third of the work. An address that may hold a key is not remembered.

import type { H3Event } from 'h3'
import type { IsoDate } from '../../dates.ts'
import { nodeOf } from './send.ts'
import { KEY_NAMES } from './url-key.ts'

const MOST = 10_000 // 3 MB; then all are forgotten, which costs each of them one look
const LONGEST = 200 // characters; those of the contract's parameters take 150
/** An escape can hide the name of a key. */
const MAY_HOLD_KEY = new RegExp(`%|${KEY_NAMES.join('|')}`, 'i')

/** What else the answer depends on: the day on which it is asked, and the name of its form. */
export type Circumstances = { today: IsoDate; form: string }

export type KnownAddresses = {
  /** The key of the answer in the cache of answers; undefined when it was not asked in these circumstances. */
  keyOf(event: H3Event, circumstances: Circumstances): string | undefined
  remember(event: H3Event, circumstances: Circumstances, key: string): void
}

export function createKnownAddresses(): KnownAddresses {
  const known = new Map<string, Circumstances & { key: string }>()
  return {
    keyOf(event, { today, form }) {
      const found = known.get(targetOf(event))
      return found?.today === today && found.form === form ? found.key : undefined
    },
    remember(event, circumstances, key) {
      const target = targetOf(event)
      if (target.length > LONGEST || MAY_HOLD_KEY.test(target)) return
      if (known.size >= MOST) known.clear()
      known.set(target, { ...circumstances, key })
    },
  }
}

function targetOf(event: H3Event): string {
  return nodeOf(event).req.url ?? ''
}
