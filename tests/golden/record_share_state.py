"""Has a real Kafka keep the state of a share group, and puts its logs into ``kafka-share-state/``.

Run by hand, with Java at hand: ``python -m tests.golden.record_share_state``. Nothing else writes them.
"""

import shutil
import tempfile
import time
from pathlib import Path

from tests.golden.group_dialogue import Talk
from tests.golden.record_groups import CLUSTER_ID, SETTLE_SECONDS
from tests.golden.share_group_dialogue import half_done
from tests.interop.kafka import Kafka

LOGS = Path(__file__).parent / "kafka-share-state"
SEGMENT = "00000000000000000000.log"
TOPICS = ("__consumer_offsets", "__share_group_state")

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "data"
        with Kafka.obtain().broker(data, CLUSTER_ID) as address:
            talk = Talk(address)
            talk.begin()
            time.sleep(SETTLE_SECONDS)
            half_done(talk)
            talk.close()
        for topic in TOPICS:
            shutil.copy(data / f"{topic}-0" / SEGMENT, LOGS / f"{topic}.log")
