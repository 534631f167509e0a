// What the operator may set of the central bank.

import type { Provider } from '../provider.ts'

export const bccrSettings: Provider['settings'] = {
  schedule: {
    option: 'sync-cron', // of the time when there was one provider
    fallback: '0 5 * * *',
    help: 'when to sync, in the time of Costa Rica',
  },
  url: {
    option: 'bccr-url',
    fallback: 'https://apim.bccr.fi.cr/SDDE/api',
    help: "base of the central bank's services",
  },
  pace: {
    option: 'bccr-pace',
    fallback: '1000',
    help: 'least milliseconds between two requests to the bank',
  },
  token: {
    option: 'bccr-token-file',
    help: "file with the bank's token (or the token itself in CAMBISTA_BCCR_TOKEN); read anew for each sync",
    name: "the bank's token",
    without: 'no token of the central bank, so its website is read, whose values are rounded',
    installed: { file: 'bccr-token', title: "the central bank's token" },
  },
}
