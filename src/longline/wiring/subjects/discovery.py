"""Discovery of sources, from the parts of the platform."""

from longline.engine.discovery.candidate_finder import Discovery, DiscoveryParts
from longline.engine.discovery.candidate_probe import CandidateProbe
from longline.model.discovery.candidate import DiscoveryRules
from longline.services.discovery.candidates import Candidates
from longline.wiring.platform import Platform
from longline.wiring.subjects.feeds import feed_parts


def discovery(platform: Platform) -> Discovery:
    """Return the contributor to reports that follows up external links, within the operator's rules."""
    s, records = platform.settings, platform.records
    rules = DiscoveryRules(s.discovery_allow, s.discovery_block, s.discovery_budget, s.discovery_per_run)
    return Discovery(DiscoveryParts(records.sources, feed_parts(platform).seeder, platform.clock), rules)


def candidate_probe(platform: Platform) -> CandidateProbe:
    """Return the probe of candidates."""
    return CandidateProbe(feed_parts(platform), platform.records.candidates)


def candidates(platform: Platform) -> Candidates:
    """Return the service for decisions on candidates."""
    return Candidates(platform.records.candidates, platform.records.sources, feed_parts(platform).seeder)
