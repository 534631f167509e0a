// Cache from URLs to keys of the answer cache. A repeated URL is answered before its parameters are parsed, which saves
// a third of the work. URLs that may contain an API key are not cached.

import type { H3Event } from 'h3'
import type { IsoDate } from '../../../values/dates.ts'
import { KEY_NAMES } from '../url-key.ts'
import { nodeContext } from './send.ts'

const MAX_ENTRIES = 10_000 // 3 MB; a full cache is emptied
const MAX_LENGTH = 200 // characters; a URL with the contract's parameters takes 150
/** Percent escapes can hide the parameter of a key. */
const MAY_CONTAIN_KEY = new RegExp(`%|${KEY_NAMES.join('|')}`, 'i')

/** Day of the request, and name of the form: the answer to a URL depends on both. */
type RequestContext = { today: IsoDate; form: string }

export type UrlCache = {
  /** Returns the key of the answer in the answer cache; undefined without an entry for this day and form. */
  findKey(event: H3Event, context: RequestContext): string | undefined
  store(event: H3Event, context: RequestContext, key: string): void
}

export function createUrlCache(): UrlCache {
  const entries = new Map<string, RequestContext & { key: string }>()
  return {
    findKey(event, { today, form }) {
      const entry = entries.get(requestTarget(event))
      return entry?.today === today && entry.form === form ? entry.key : undefined
    },
    store(event, context, key) {
      const target = requestTarget(event)
      if (target.length > MAX_LENGTH || MAY_CONTAIN_KEY.test(target)) return
      if (entries.size >= MAX_ENTRIES) entries.clear()
      entries.set(target, { ...context, key })
    },
  }
}

function requestTarget(event: H3Event): string {
  return nodeContext(event).req.url ?? ''
}
