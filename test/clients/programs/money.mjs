// API_URL KEY FROM TO: what one unit is worth, by money with the rates of open-exchange-rates.
import fx from 'money'
import oxr from 'open-exchange-rates'

const [, , url, app_id, from, to] = process.argv
let worth
oxr.api_url = url
oxr.set({ app_id }).latest((error) => {
  if (error) throw error
  fx.rates = oxr.rates
  fx.base = oxr.base
  worth = fx(1).from(from).to(to)
})
process.on('exit', () => process.stdout.write(JSON.stringify(worth))) // open-exchange-rates calls back twice
