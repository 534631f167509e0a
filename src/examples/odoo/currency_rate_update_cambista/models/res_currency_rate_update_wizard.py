from odoo import _, models
from odoo.exceptions import UserError


class ResCurrencyRateUpdateWizard(models.TransientModel):
    _inherit = "res.currency.rate.update.wizard"

    def action_update(self):
        """Writes the currencies that are whole. What is missing is shown; OCA's wizard would close as after success."""
        self.ensure_one()
        ours = self.provider_ids.filtered(lambda provider: provider.service == "cambista")
        (self.provider_ids - ours)._update(self.date_from, self.date_to)
        sentences, has_rates = [], False
        for provider in ours:
            rates, failures = provider._cambista_update(self.date_from, self.date_to)
            has_rates = has_rates or bool(rates)
            sentences += provider._cambista_sentences(failures)
        if sentences and not has_rates:
            raise UserError("\n".join(sentences))
        close = {"type": "ir.actions.act_window_close"}
        if not sentences:
            return close
        params = {"title": _("Not all rates were written"), "message": "\n".join(sentences)}
        params.update({"type": "warning", "sticky": True, "next": close})
        return {"type": "ir.actions.client", "tag": "display_notification", "params": params}
