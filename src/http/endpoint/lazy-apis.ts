// Loads the modules of an API with the first request for one of its paths, so that the start does not wait for them.
// Until then malformed HTTP on these paths is rejected in the shape of the rates API.

import type { H3 } from 'h3'
import { type Api, isBelow, mountApis } from './api.ts'
import { percentDecode } from './params.ts'

export type LazyApis = {
  /** Common prefix of their paths. */
  prefix: string
  load(): Promise<readonly Api[]>
}

/** Creates APIs once: all ports share their rate limits of wrong keys, and their caches of answers. */
export function createLazyApis(prefix: string, importApis: () => Promise<() => Api[]>): LazyApis {
  let apis: Api[] | undefined
  const load = async () => {
    const create = await importApis()
    apis ??= create()
    return apis
  }
  return { prefix, load }
}

/** Answers a request for a path. */
export type Fetch = (request: Request, path: string) => Response | Promise<Response>

/** Returns the app's fetch. It loads and mounts lazy APIs before their first request, and adds them to `apis`. */
export function mountLazy(app: H3, apis: Api[], lazyApis: readonly LazyApis[]): Fetch {
  const missing = new Set(lazyApis)
  const loading = new Map<LazyApis, Promise<void>>()
  const load = async (one: LazyApis) => {
    try {
      const loaded = await one.load()
      mountApis(app, loaded)
      apis.push(...loaded.filter((api) => !apis.includes(api))) // another app may have mounted them
      missing.delete(one)
    } finally {
      loading.delete(one)
    }
  }
  return (request, encodedPath) => {
    const path = percentDecode(encodedPath) ?? encodedPath // the router decodes it too
    for (const one of missing) {
      if (!isBelow(path, one.prefix)) continue
      return loading.getOrInsertComputed(one, load).then(() => app.fetch(request))
    }
    return app.fetch(request)
  }
}
