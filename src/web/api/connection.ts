// Connection to the server. Each part of the page reads it here, so that none contradicts another.

import { signal } from '@preact/signals'

/** True after a request without an answer, until the next answer. */
export const isOffline = signal(false)
