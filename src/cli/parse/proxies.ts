// Makes `fetch` and hooks of this process use the proxies of its environment, and of the service's settings
// (decisions#outgoing).

import { setGlobalProxyFromEnv } from 'node:http'
import https from 'node:https'
import {
  type OutgoingProxies,
  type OutgoingProxy,
  proxyError,
  readProxies,
  TunnelAgent,
} from '../../runtime/outgoing-proxies.ts'
import type { Environment } from './args.ts'
import { readLibrarySettings, type Settings } from './settings.ts'

/** Sender of the requests of `fetch`, as Node has it. */
type Dispatcher = {
  dispatch(options: { origin: string }, handler: ResponseHandler): boolean
  destroy(): Promise<void>
}
type Controller = { abort(error: Error): void }
type ResponseHandler = {
  onResponseStart(controller: Controller, status: number, ...rest: unknown[]): void
  onResponseError(controller: Controller, error: Error): void
}

const DISPATCHER: unique symbol = Symbol.for('undici.globalDispatcher.2') as never

/** Reads the proxies. A variable of the environment replaces that of the settings. */
export function outgoingProxies(env: Environment, settings: Settings): OutgoingProxies {
  return readProxies(env, readLibrarySettings(settings, /^(https?|no)_proxy$/i))
}

/** Uses the proxies in this process. Returns a function that ends that, and the requests that wait. */
export function useProxies(proxies: OutgoingProxies): () => void {
  const proxy = proxies.https ?? proxies.http
  if (!proxy) return () => {}
  const global = globalThis as { [DISPATCHER]?: Pick<Dispatcher, 'dispatch'> }
  // Each URL has a proxy here, or else Node would read the environment.
  const env = { http_proxy: proxies.http?.url ?? proxy.url, https_proxy: proxies.https?.url ?? proxy.url }
  const makeDispatcher = (no_proxy: string) => {
    const restore = setGlobalProxyFromEnv({ ...env, no_proxy })
    const dispatcher = global[DISPATCHER] as Dispatcher
    restore()
    return dispatcher
  }
  const [proxied, direct] = [makeDispatcher(','), makeDispatcher('*')]
  const { [DISPATCHER]: formerDispatcher } = global
  const { globalAgent } = https
  let hasEnded = false
  global[DISPATCHER] = {
    dispatch(options, handler) {
      const url = new URL(options.origin)
      const urlProxy = hasEnded ? undefined : proxies.find(url)
      if (!urlProxy) return direct.dispatch(options, handler)
      return proxied.dispatch(options, namingHandler(handler, urlProxy, url.protocol === 'http:'))
    },
  }
  https.globalAgent = new TunnelAgent(proxies)
  return () => {
    hasEnded = true // for a user of this sender that ends later
    global[DISPATCHER] = formerDispatcher
    proxied.destroy()
    https.globalAgent = globalAgent
  }
}

/** Names the proxy in each error. Statuses of plain HTTP other than 407 may be the host's. */
function namingHandler(
  handler: ResponseHandler,
  proxy: OutgoingProxy,
  isForwarded: boolean,
): ResponseHandler {
  const naming: ResponseHandler = Object.assign(Object.create(handler), {
    onResponseStart(controller: Controller, status: number, ...rest: unknown[]) {
      if (isForwarded && status === 407)
        controller.abort(Object.assign(new Error('no answer'), { statusCode: status }))
      else handler.onResponseStart.call(naming, controller, status, ...rest)
    },
    onResponseError(controller: Controller, error: Error) {
      handler.onResponseError.call(naming, controller, proxyError(error, proxy))
    },
  })
  return naming
}
