import { Field, ID, ObjectType } from '@nestjs/graphql';

@ObjectType()
export class Loan {
  @Field(() => ID)
  id!: string;

  @Field({ nullable: true })
  approvedBy?: string;
}
