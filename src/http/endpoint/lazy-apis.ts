// APIs whose modules are loaded with the first request for one of their paths: a start does not wait for them. A request
// that is no HTTP, on a path of one that is not there yet, is refused in the shape of the rates API.

import type { H3 } from 'h3'
import { type Api, isBelow, mountApis } from './api.ts'

export type LateApis = {
  /** How the paths of all of them begin. */
  prefix: string
  load(): Promise<readonly Api[]>
}

/** Answers a request for a path. */
export type Fetch = (request: Request, path: string) => Response | Promise<Response>

/** The app, with the APIs that are mounted on it when they are first asked for; from then on they are among `apis` too. */
export function mountLate(app: H3, apis: Api[], late: readonly LateApis[]): Fetch {
  const missing = new Set(late)
  const loading = new Map<LateApis, Promise<void>>()
  const load = async (one: LateApis) => {
    try {
      const loaded = await one.load()
      mountApis(app, loaded)
      apis.push(...loaded.filter((api) => !apis.includes(api))) // another app may have mounted them
      missing.delete(one)
    } finally {
      loading.delete(one)
    }
  }
  return (request, path) => {
    for (const one of missing) {
      if (!isBelow(path, one.prefix)) continue
      return loading.getOrInsertComputed(one, load).then(() => app.fetch(request))
    }
    return app.fetch(request)
  }
}
