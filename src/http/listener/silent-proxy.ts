// A proxy on this machine that adds no header hides its clients: they count as this machine. Rates, metrics and signing
// in may be open to it. The Host of their requests shows such a proxy.

import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Log } from '../../runtime/log.ts'
import { type Clock, currentDay } from '../../values/dates.ts'
import { hostFields } from './own-origin.ts'
import { HOST, isForwarded, isLoopback, peerAddress } from './proxy.ts'

/** Creates a function that warns of such requests, once a day. */
export function createSilentProxyWarning(log: Log, clock: Clock): (req: IncomingMessage) => void {
  let warningDay: string | undefined
  return (req) => {
    const [host] = hostFields(req)
    if (host === undefined || !HOST.test(host) || isLocalHost(host)) return
    if (!isLoopback(peerAddress(req)) || isForwarded(req)) return
    const day = currentDay(clock)
    if (day === warningDay) return
    warningDay = day
    log.warn('a proxy may hide its clients', {
      host,
      reason: 'its requests come from this machine, and without forwarding headers',
      hint: 'have it send X-Forwarded-For: cambista manual https',
    })
  }
}

function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  const address = name.replace(/^\[|\]$/g, '')
  return /(^|\.)localhost$/.test(name) || (isIP(address) !== 0 && isLoopback(address))
}
