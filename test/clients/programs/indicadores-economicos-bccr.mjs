// DATE KEY: compra and venta.
import indicadores from 'indicadores-economicos-bccr'

const [, , date, key] = process.argv
process.stdout.write(JSON.stringify(await indicadores('a@b.cr', key, date, date)))
