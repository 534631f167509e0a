// Options of the central bank.

import type { Provider } from '../provider.ts'

export const bccrSettings: Provider['settings'] = {
  schedule: {
    option: 'sync-cron', // older than the prefixes of providers
    fallback: '0 5 * * *',
    help: 'when to sync, in the time of Costa Rica',
    spanish: 'cuándo se sincroniza, en hora de Costa Rica',
  },
  url: {
    option: 'bccr-url',
    fallback: 'https://apim.bccr.fi.cr/SDDE/api',
    help: "base of the central bank's services",
    spanish: 'dirección base de los servicios del Banco Central',
  },
  pace: {
    option: 'bccr-pace',
    fallback: '1000',
    help: 'least milliseconds between two requests to the bank',
    spanish: 'mínimo de milisegundos entre dos solicitudes al banco',
  },
  token: {
    option: 'bccr-token-file',
    help: "file with the bank's token (or the token itself in CAMBISTA_BCCR_TOKEN); read anew for each sync",
    spanish:
      'archivo con el token del banco (o el token mismo en CAMBISTA_BCCR_TOKEN); se lee de nuevo en cada sincronización',
    name: "the bank's token",
    absence: 'no token of the central bank, so its website is read, whose values are rounded',
    installed: { file: 'bccr-token', title: "the central bank's token" },
  },
}
