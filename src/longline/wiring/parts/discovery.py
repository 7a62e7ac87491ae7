"""Discovery of sources, from the parts of the house."""

from longline.engine.discovery.candidate_finder import Discovery, DiscoveryParts
from longline.engine.discovery.candidate_probe import CandidateProbe
from longline.model.discovery.candidate import DiscoveryRules
from longline.services.discovery.candidates import Candidates
from longline.wiring.house import House
from longline.wiring.parts.feeds import feed_parts


def discovery(house: House) -> Discovery:
    """Return the contributor to reports that follows up external links, within the operator's rules."""
    s, records = house.settings, house.records
    rules = DiscoveryRules(s.discovery_allow, s.discovery_block, s.discovery_budget, s.discovery_per_run)
    return Discovery(DiscoveryParts(records.sources, feed_parts(house).seeder, house.clock), rules)


def candidate_probe(house: House) -> CandidateProbe:
    """Return the probe of candidates."""
    return CandidateProbe(feed_parts(house), house.records.candidates)


def candidates(house: House) -> Candidates:
    """Return the service for decisions on candidates."""
    return Candidates(house.records.candidates, house.records.sources, feed_parts(house).seeder)
