// The cookie half of a session. A browser sends the cookies of a host to each of its ports, so over plain HTTP the name has
// the port; over TLS the prefix has the browser refuse one that another host or plain HTTP has set.

import type { H3Event } from 'h3'
import type { OwnOrigin } from '../listener/own-origin.ts'

export function cookieName({ scheme, port }: OwnOrigin): string {
  return scheme === 'https' ? '__Host-cambista' : `cambista-${port}`
}

export function setCookie(own: OwnOrigin, value: string): string {
  const secure = own.scheme === 'https' ? '; Secure' : ''
  return `${cookieName(own)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`
}

export function endedCookie(own: OwnOrigin): string {
  return `${setCookie(own, '')}; Max-Age=0`
}

/** The values of every cookie of a name: another program of the host may have set one for a path of its own. */
export function cookiesNamed(event: H3Event, name: string): string[] {
  const sent = (event.req.headers.get('cookie') ?? '').split(';').map((one) => one.trim())
  return sent.filter((one) => one.startsWith(`${name}=`)).map((one) => one.slice(name.length + 1))
}
