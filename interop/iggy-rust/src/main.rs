//! Iggy's Rust client as a puppet: one command a line in, one line of JSON out (see ../../README.md).

mod words;

use std::collections::BTreeMap;
use std::io::{stdin, BufRead};

use iggy::prelude::*;
use serde_json::{json, Value};

use words::Words;

type Answer = Result<Value, IggyError>;

#[tokio::main]
async fn main() -> Result<(), IggyError> {
    let address = std::env::args().nth(1).expect("the address of a broker");
    let client = IggyClient::builder()
        .with_tcp()
        .with_server_address(address)
        .build()?;
    client.connect().await?;
    for line in stdin().lock().lines().map_while(Result::ok) {
        let mut words = Words::new(&line);
        let answer = match obey(&client, &mut words).await {
            Some(Ok(value)) => json!({"ok": value}),
            Some(Err(error)) => json!({"error": error.as_code()}),
            None => json!({"unable": "this client has no such command"}),
        };
        println!("{answer}");
    }
    Ok(())
}

/// Nothing when no part of the client knows the command.
async fn obey(client: &IggyClient, words: &mut Words<'_>) -> Option<Answer> {
    let command = words.text();
    if let Some(answer) = node(client, command, words).await {
        return Some(answer);
    }
    if let Some(answer) = people(client, command, words).await {
        return Some(answer);
    }
    if let Some(answer) = places(client, command, words).await {
        return Some(answer);
    }
    messages(client, command, words).await
}

async fn node(client: &IggyClient, command: &str, words: &mut Words<'_>) -> Option<Answer> {
    Some(match command {
        "ping" => done(client.ping().await),
        "stats" => client.get_stats().await.map(|stats| {
            json!([
                stats.streams_count,
                stats.topics_count,
                stats.partitions_count,
                stats.messages_count
            ])
        }),
        "me" => client.get_me().await.map(described),
        "client" => client
            .get_client(words.number())
            .await
            .map(|found| json!(found.map(described))),
        "clients" => client
            .get_clients()
            .await
            .map(|clients| sorted(clients.into_iter().map(|each| each.client_id))),
        "cluster" => client.get_cluster_metadata().await.map(|cluster| {
            json!(cluster
                .nodes
                .iter()
                .map(|node| format!("{}:{}", node.ip, node.endpoints.tcp))
                .collect::<Vec<_>>())
        }),
        "snapshot" => client
            .snapshot(SnapshotCompression::Deflated, vec![SystemSnapshotType::All])
            .await
            .map(|snapshot| json!(snapshot.0[..2])),
        _ => return None,
    })
}

async fn people(client: &IggyClient, command: &str, words: &mut Words<'_>) -> Option<Answer> {
    Some(match command {
        "login" => client
            .login_user(words.text(), words.text())
            .await
            .map(|identity| json!(identity.user_id)),
        "logout" => done(client.logout_user().await),
        "create-user" => client
            .create_user(
                words.text(),
                words.text(),
                UserStatus::Active,
                words.permissions(),
            )
            .await
            .map(|user| json!(user.id)),
        "users" => client
            .get_users()
            .await
            .map(|users| sorted(users.into_iter().map(|each| each.username))),
        "user" => client.get_user(&words.id()).await.map(|found| {
            json!(found.map(|user| {
                let global = user
                    .permissions
                    .map(|permissions| permissions.global)
                    .unwrap_or_default();
                let status = if user.status == UserStatus::Active {
                    "Active"
                } else {
                    "Inactive"
                };
                json!([
                    user.username,
                    status,
                    [global.poll_messages, global.send_messages]
                ])
            }))
        }),
        "rename-user" => done(
            client
                .update_user(&words.id(), Some(words.text()), None)
                .await,
        ),
        "disable-user" => done(
            client
                .update_user(&words.id(), None, Some(UserStatus::Inactive))
                .await,
        ),
        "permit-user" => done(
            client
                .update_permissions(&words.id(), words.permissions())
                .await,
        ),
        "change-password" => done(
            client
                .change_password(&words.id(), words.text(), words.text())
                .await,
        ),
        "delete-user" => done(client.delete_user(&words.id()).await),
        "create-token" => client
            .create_personal_access_token(words.text(), PersonalAccessTokenExpiry::NeverExpire)
            .await
            .map(|created| json!(created.token)),
        "tokens" => client
            .get_personal_access_tokens()
            .await
            .map(|tokens| sorted(tokens.into_iter().map(|each| each.name))),
        "login-token" => client
            .login_with_personal_access_token(words.text())
            .await
            .map(|identity| json!(identity.user_id)),
        "delete-token" => done(client.delete_personal_access_token(words.text()).await),
        _ => return None,
    })
}

async fn places(client: &IggyClient, command: &str, words: &mut Words<'_>) -> Option<Answer> {
    Some(match command {
        "create-stream" => client
            .create_stream(words.text())
            .await
            .map(|stream| json!(stream.id)),
        "streams" => client
            .get_streams()
            .await
            .map(|streams| sorted(streams.into_iter().map(|each| each.name))),
        "stream" => client.get_stream(&words.id()).await.map(|found| {
            json!(found.map(|stream| json!([
                stream.name,
                stream.topics_count,
                stream.messages_count
            ])))
        }),
        "rename-stream" => done(client.update_stream(&words.id(), words.text()).await),
        "purge-stream" => done(client.purge_stream(&words.id()).await),
        "delete-stream" => done(client.delete_stream(&words.id()).await),
        "create-topic" => client
            .create_topic(
                &words.id(),
                words.text(),
                words.number(),
                CompressionAlgorithm::None,
                None,
                IggyExpiry::ServerDefault,
                MaxTopicSize::ServerDefault,
            )
            .await
            .map(|topic| json!(topic.id)),
        "topics" => client
            .get_topics(&words.id())
            .await
            .map(|topics| sorted(topics.into_iter().map(|each| each.name))),
        "topic" => client
            .get_topic(&words.id(), &words.id())
            .await
            .map(|found| {
                json!(found.map(|topic| {
                    let counts: Vec<_> = topic
                        .partitions
                        .iter()
                        .map(|each| each.messages_count)
                        .collect();
                    json!([
                        topic.name,
                        topic.partitions_count,
                        topic.messages_count,
                        counts
                    ])
                }))
            }),
        "rename-topic" => {
            let (stream, topic) = (words.id(), words.id());
            let (expiry, size) = (IggyExpiry::ServerDefault, MaxTopicSize::ServerDefault);
            let none = CompressionAlgorithm::None;
            done(
                client
                    .update_topic(&stream, &topic, words.text(), none, None, expiry, size)
                    .await,
            )
        }
        "purge-topic" => done(client.purge_topic(&words.id(), &words.id()).await),
        "delete-topic" => done(client.delete_topic(&words.id(), &words.id()).await),
        "add-partitions" => done(
            client
                .create_partitions(&words.id(), &words.id(), words.number())
                .await,
        ),
        "remove-partitions" => done(
            client
                .delete_partitions(&words.id(), &words.id(), words.number())
                .await,
        ),
        "delete-segments" => done(
            client
                .delete_segments(&words.id(), &words.id(), words.number(), words.number())
                .await,
        ),
        _ => return None,
    })
}

async fn messages(client: &IggyClient, command: &str, words: &mut Words<'_>) -> Option<Answer> {
    Some(match command {
        "send" | "send-headed" => {
            let (stream, topic, partitioning) = (words.id(), words.id(), words.partitioning());
            let (first, count): (u64, u64) = (words.number(), words.number());
            let mut batch: Vec<_> = (first..first + count)
                .map(|number| numbered(number, command == "send-headed"))
                .collect();
            done(
                client
                    .send_messages(&stream, &topic, &partitioning, &mut batch)
                    .await,
            )
        }
        "poll" => {
            let (stream, topic, partition) = (words.id(), words.id(), words.partition());
            let (consumer, strategy, count) = (words.consumer(), words.strategy(), words.number());
            client
                .poll_messages(
                    &stream,
                    &topic,
                    partition,
                    &consumer,
                    &strategy,
                    count,
                    words.text() == "commit",
                )
                .await
                .and_then(|polled| {
                    let messages = polled
                        .messages
                        .iter()
                        .map(shown)
                        .collect::<Result<Vec<_>, _>>()?;
                    Ok(json!([
                        polled.partition_id,
                        polled.current_offset,
                        messages
                    ]))
                })
        }
        "flush" => done(
            client
                .flush_unsaved_buffer(&words.id(), &words.id(), words.number(), true)
                .await,
        ),
        "store-offset" => {
            let (stream, topic, partition, consumer) =
                (words.id(), words.id(), words.partition(), words.consumer());
            done(
                client
                    .store_consumer_offset(&consumer, &stream, &topic, partition, words.number())
                    .await,
            )
        }
        "offset" => {
            let (stream, topic, partition) = (words.id(), words.id(), words.partition());
            client
                .get_consumer_offset(&words.consumer(), &stream, &topic, partition)
                .await
                .map(|found| {
                    json!(found.map(|offset| [
                        offset.partition_id as u64,
                        offset.current_offset,
                        offset.stored_offset
                    ]))
                })
        }
        "delete-offset" => {
            let (stream, topic, partition) = (words.id(), words.id(), words.partition());
            done(
                client
                    .delete_consumer_offset(&words.consumer(), &stream, &topic, partition)
                    .await,
            )
        }
        "create-group" => client
            .create_consumer_group(&words.id(), &words.id(), words.text())
            .await
            .map(|group| json!(group.id)),
        "groups" => client
            .get_consumer_groups(&words.id(), &words.id())
            .await
            .map(|groups| sorted(groups.into_iter().map(|each| each.name))),
        "group" => client
            .get_consumer_group(&words.id(), &words.id(), &words.id())
            .await
            .map(|found| {
                json!(found.map(|group| {
                    let members: Vec<_> = group
                        .members
                        .into_iter()
                        .map(|each| each.partitions)
                        .collect();
                    json!([group.name, group.partitions_count, members])
                }))
            }),
        "join-group" => done(
            client
                .join_consumer_group(&words.id(), &words.id(), &words.id())
                .await,
        ),
        "leave-group" => done(
            client
                .leave_consumer_group(&words.id(), &words.id(), &words.id())
                .await,
        ),
        "delete-group" => done(
            client
                .delete_consumer_group(&words.id(), &words.id(), &words.id())
                .await,
        ),
        _ => return None,
    })
}

fn numbered(number: u64, headed: bool) -> IggyMessage {
    let headers = headed.then(|| {
        let key = HeaderKey::try_from("n").expect("a key");
        BTreeMap::from([(
            key,
            HeaderValue::try_from(number.to_string()).expect("a value"),
        )])
    });
    IggyMessage::builder()
        .id(u128::from(number) + 1)
        .payload(format!("message {number}").into())
        .maybe_user_headers(headers)
        .build()
        .expect("a message")
}

fn shown(message: &IggyMessage) -> Answer {
    let headers: BTreeMap<_, _> = message
        .user_headers_map()?
        .unwrap_or_default()
        .iter()
        .map(|(key, value)| (text(key.as_bytes()), text(value.as_bytes())))
        .collect();
    let header = &message.header;
    Ok(json!([
        header.offset,
        header.timestamp,
        header.id as u64,
        message.payload_as_string()?,
        headers
    ]))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn described(client: ClientInfoDetails) -> Value {
    json!([
        client.client_id,
        client.user_id,
        client.transport,
        client.consumer_groups_count
    ])
}

fn done(result: Result<(), IggyError>) -> Answer {
    result.map(|()| Value::Null)
}

fn sorted<T: Ord + Into<Value>>(items: impl Iterator<Item = T>) -> Value {
    let mut items: Vec<_> = items.collect();
    items.sort();
    Value::Array(items.into_iter().map(Into::into).collect())
}
